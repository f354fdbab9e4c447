#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dgat/data/features.h"
#include "dgat/graph/csr_graph.h"

namespace dgat::data {

/// One train/validation/test partition: node ids in increasing order. The parts do not overlap;
/// a node may be in none of them.
struct Split {
  std::vector<graph::NodeId> train, val, test;
  friend bool operator==(const Split&, const Split&) = default;
};

enum class Metric { kAccuracy, kRocAuc };

/// A graph with node labels, features and splits; what every reader returns and every writer takes.
struct Dataset {
  std::string name;  ///< file stem or catalogue name
  graph::CsrGraph graph;
  Features features;            ///< empty() when the file has none
  std::vector<int32_t> labels;  ///< one per node; -1 = unlabelled
  int32_t classes = 0;          ///< label values that may occur: 0 .. classes-1
  std::vector<Split> splits;
  std::vector<std::string> node_ids;       ///< original ids, empty when they are 0 .. N-1
  std::vector<std::string> class_names;    ///< original labels, empty when they are 0 .. classes-1
  std::vector<std::string> feature_names;  ///< column names, empty when the source has none
  int64_t dropped_self_loops = 0;
  int64_t dropped_duplicates = 0;

  /// Label values that occur. (A file may leave one of its values unused.)
  int32_t classes_present() const;
  /// Two classes: ROC AUC. More: accuracy.
  Metric metric() const { return classes == 2 ? Metric::kRocAuc : Metric::kAccuracy; }
};

/// Checks what holds for every source: one label per node, labels in [-1, classes), one row of
/// finite features per node, splits inside the graph and without overlap. Throws InputError
/// beginning with `source`.
void validate(const Dataset& dataset, const std::string& source);

}  // namespace dgat::data
