#pragma once

#include <string>

#include "dgat/data/dataset.h"

namespace dgat::data {

/// SHA-256 of graph, labels and features: equal for equal content, whatever file it came from.
/// Splits are not part of it.
std::string fingerprint(const Dataset& dataset);
/// SHA-256 of the nodes of its three parts.
std::string fingerprint(const Split& split);

}  // namespace dgat::data
