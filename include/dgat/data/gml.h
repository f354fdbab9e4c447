#pragma once

#include <filesystem>

#include "dgat/data/dataset.h"
#include "dgat/data/load.h"

/// GML (.gml, .gml.gz): `graph [ node [ id 0 label "a" class 1 ] edge [ source 0 target 1 ] ]`.
///
/// The number `id` identifies a node; `label` is its name. The class is the attribute class, y,
/// target, category or value; other attributes go by the rules of attribute_graph.h. The weight of
/// an edge is its attribute weight, else value. Lists inside a node or an edge are skipped.
namespace dgat::data {

/// Throws: InputError naming file and line.
Dataset read_gml(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace dgat::data
