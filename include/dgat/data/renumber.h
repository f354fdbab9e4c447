#pragma once

#include <span>

#include "dgat/data/dataset.h"

namespace dgat::data {

/// The data set with other node numbers: node k of the result is node order[k]. Names of nodes go
/// with them; without names, the old numbers become names.
///
/// Needs: every node is in `order` once.
Dataset renumbered(const Dataset& dataset, std::span<const graph::NodeId> order);

}  // namespace dgat::data
