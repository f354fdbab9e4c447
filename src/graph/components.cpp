#include "dgat/graph/components.h"

#include <algorithm>
#include <numeric>

namespace dgat::graph {
namespace {

/// Union-find with the smallest node as the root of its set.
class DisjointSets {
 public:
  explicit DisjointSets(NodeId nodes) : parent_(static_cast<size_t>(nodes)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  NodeId root(NodeId i) {
    while (at(i) != i) i = at(i) = at(at(i));  // path halving
    return i;
  }
  void unite(NodeId a, NodeId b) {
    a = root(a);
    b = root(b);
    if (a < b) at(b) = a;
    if (b < a) at(a) = b;
  }

 private:
  NodeId& at(NodeId i) { return parent_[static_cast<size_t>(i)]; }
  std::vector<NodeId> parent_;
};

}  // namespace

NodeId Components::largest() const {
  if (sizes.empty()) return -1;
  return static_cast<NodeId>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
}

int64_t Components::isolated() const {
  return std::count(sizes.begin(), sizes.end(), 1);
}

Components connected_components(const CsrGraph& graph) {
  const NodeId n = graph.nodes();
  DisjointSets sets(n);
  for (NodeId i = 0; i < n; ++i) {
    for (const NodeId j : graph.neighbors(i)) {
      if (j < i || graph.directed()) sets.unite(i, j);
    }
  }
  Components result;
  result.of_node.resize(static_cast<size_t>(n));
  for (NodeId i = 0; i < n; ++i) {
    const NodeId root = sets.root(i);
    NodeId& component = result.of_node[static_cast<size_t>(i)];
    if (root == i) {
      component = result.count();
      result.sizes.push_back(0);
    } else {
      component = result.of_node[static_cast<size_t>(root)];
    }
    ++result.sizes[static_cast<size_t>(component)];
  }
  return result;
}

}  // namespace dgat::graph
