#include "dgat/data/dataset.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"

namespace dgat::data {
namespace {

void check_finite(const Features& features, const std::string& source) {
  const auto values = features.values();
  parallel_for(static_cast<int64_t>(values.size()), 1 << 16, [&](int64_t first, int64_t last) {
    const auto bad = std::find_if(values.begin() + first, values.begin() + last,
                                  [](float v) { return !std::isfinite(v); });
    if (bad == values.begin() + last) return;
    const int64_t at = bad - values.begin();
    int64_t row = 0, column = 0;
    if (features.is_sparse()) {
      const auto offsets = features.offsets();
      row = std::upper_bound(offsets.begin(), offsets.end(), at) - offsets.begin() - 1;
      column = features.columns()[static_cast<size_t>(at)];
    } else {
      row = at / features.cols();
      column = at % features.cols();
    }
    throw_input("{}: feature row {}, column {} is {}; features must be finite", source, row, column,
                *bad);
  });
}

void check_split(const Dataset& dataset, size_t k, const std::string& source) {
  const Split& split = dataset.splits[k];
  const std::array<std::pair<const char*, const std::vector<graph::NodeId>*>, 3> parts{
      {{"train", &split.train}, {"val", &split.val}, {"test", &split.test}}};
  std::vector<const char*> part_of(dataset.labels.size(), nullptr);
  for (const auto& [name, nodes] : parts) {
    graph::NodeId previous = -1;
    for (const graph::NodeId i : *nodes) {
      if (i < 0 || i >= dataset.graph.nodes()) {
        throw_input("{}: split {} has node {} in {}; ids are 0 to {}", source, k, i, name,
                    dataset.graph.nodes() - 1);
      }
      const char*& part = part_of[static_cast<size_t>(i)];
      if (part != nullptr && part != name) {
        throw_input("{}: split {} has node {} in both {} and {}; the parts must not overlap",
                    source, k, i, part, name);
      }
      if (i <= previous) {
        throw_input("{}: split {} does not list the nodes of {} in increasing order, see node {}",
                    source, k, name, i);
      }
      if (dataset.labels[static_cast<size_t>(i)] < 0) {
        throw_input("{}: split {} has node {} in {}, but it is unlabelled", source, k, i, name);
      }
      part = name;
      previous = i;
    }
  }
}

void check_names(const std::vector<std::string>& names, int64_t expected, const char* what,
                 const std::string& source) {
  if (!names.empty() && static_cast<int64_t>(names.size()) != expected) {
    throw_input("{}: has {} {}, expected {}", source, names.size(), what, expected);
  }
}

}  // namespace

int32_t Dataset::classes_present() const {
  std::vector<bool> seen(static_cast<size_t>(classes), false);
  for (const int32_t label : labels) {
    if (label >= 0) seen[static_cast<size_t>(label)] = true;
  }
  return static_cast<int32_t>(std::count(seen.begin(), seen.end(), true));
}

void validate(const Dataset& dataset, const std::string& source) {
  const int64_t nodes = dataset.graph.nodes();
  if (static_cast<int64_t>(dataset.labels.size()) != nodes) {
    throw_input("{}: has {} labels for {} nodes; one per node is needed (-1 where it is unknown)",
                source, dataset.labels.size(), nodes);
  }
  for (int64_t i = 0; i < nodes; ++i) {
    const int32_t label = dataset.labels[static_cast<size_t>(i)];
    if (label < -1 || label >= dataset.classes) {
      throw_input("{}: node {} has label {}; labels are -1 (unlabelled) or 0 to {}", source, i,
                  label, dataset.classes - 1);
    }
  }
  if (!dataset.features.empty() && dataset.features.rows() != nodes) {
    throw_input("{}: has {} feature rows for {} nodes; one per node is needed", source,
                dataset.features.rows(), nodes);
  }
  check_finite(dataset.features, source);
  for (size_t k = 0; k < dataset.splits.size(); ++k) check_split(dataset, k, source);
  check_names(dataset.node_ids, nodes, "node ids", source);
  check_names(dataset.class_names, dataset.classes, "class names", source);
  check_names(dataset.feature_names, dataset.features.cols(), "feature names", source);
}

}  // namespace dgat::data
