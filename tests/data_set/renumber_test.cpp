// Other node numbers: the same data set under other names.
#include "dgat/data/renumber.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "dgat/core/random.h"
#include "dgat/data/splits.h"
#include "dgat/graph/builder.h"
#include "support/tiny_graphs.h"

namespace dgat::data {
namespace {
using graph::NodeId;

constexpr NodeId kCount = 50;

std::vector<NodeId> some_order() {
  std::vector<NodeId> order(kCount);
  std::iota(order.begin(), order.end(), 0);
  Random random(8);
  for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
  return order;
}

Dataset weighted_dataset() {
  Dataset dataset;
  const graph::CsrGraph random = test::random_graph(kCount, 0.1, 5);
  std::vector<float> weights;
  for (const graph::Edge& edge : random.edge_list()) {
    weights.push_back(static_cast<float>(1 + edge.from * kCount + edge.to));
  }
  dataset.graph = graph::build_graph(kCount, random.edge_list(), weights).graph;
  dataset.classes = 3;
  std::vector<float> values;
  for (NodeId i = 0; i < kCount; ++i) {
    dataset.labels.push_back(i % 4 - 1);
    values.insert(values.end(), {static_cast<float>(i), i % 7 == 0 ? 1.0F : 0.0F});
  }
  dataset.features = Features::dense(kCount, 2, values);
  dataset.splits = random_splits(dataset.labels, 3, {}, 2, 1);
  return dataset;
}

TEST(Renumber, EveryNodeKeepsWhatBelongsToIt) {
  const Dataset before = weighted_dataset();
  const std::vector<NodeId> order = some_order();
  const Dataset after = renumbered(before, order);
  ASSERT_EQ(after.graph.arcs(), before.graph.arcs());
  for (NodeId k = 0; k < kCount; ++k) {
    const auto old = static_cast<size_t>(order[static_cast<size_t>(k)]);
    EXPECT_EQ(after.labels[static_cast<size_t>(k)], before.labels[old]);
    EXPECT_EQ(after.node_ids[static_cast<size_t>(k)], std::to_string(old));
    EXPECT_EQ(after.features.values()[static_cast<size_t>(2 * k)], static_cast<float>(old));
    for (graph::ArcIndex e = after.graph.begin(k); e < after.graph.end(k); ++e) {
      const NodeId sender = after.graph.targets()[static_cast<size_t>(e)];
      const auto one = static_cast<NodeId>(old), other = order[static_cast<size_t>(sender)];
      EXPECT_EQ(after.graph.weight(e), 1 + std::min(one, other) * kCount + std::max(one, other));
    }
  }
  for (size_t s = 0; s < before.splits.size(); ++s) {
    std::vector<NodeId> back;
    for (const NodeId i : after.splits[s].val) back.push_back(order[static_cast<size_t>(i)]);
    std::ranges::sort(back);
    EXPECT_EQ(back, before.splits[s].val);
    EXPECT_TRUE(std::ranges::is_sorted(after.splits[s].train));
  }
}

TEST(Renumber, TheInverseOrderGoesBack) {
  Dataset before = weighted_dataset();
  for (NodeId i = 0; i < kCount; ++i) before.node_ids.push_back("node " + std::to_string(i));
  const std::vector<NodeId> order = some_order();
  std::vector<NodeId> inverse(kCount);
  for (NodeId k = 0; k < kCount; ++k)
    inverse[static_cast<size_t>(order[static_cast<size_t>(k)])] = k;
  const Dataset back = renumbered(renumbered(before, order), inverse);
  EXPECT_EQ(back.graph, before.graph);
  EXPECT_EQ(back.labels, before.labels);
  EXPECT_EQ(back.features, before.features);
  EXPECT_EQ(back.splits, before.splits);
  EXPECT_EQ(back.node_ids, before.node_ids);
}

TEST(Renumber, AGraphWithoutFeaturesHasNoneAfterwards) {
  Dataset before = weighted_dataset();
  before.features = {};
  EXPECT_TRUE(renumbered(before, some_order()).features.empty());
}

}  // namespace
}  // namespace dgat::data
