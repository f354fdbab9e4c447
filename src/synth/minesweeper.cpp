#include "dgat/synth/minesweeper.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common.h"
#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/graph/builder.h"

namespace dgat::synth {
namespace {

using graph::Edge;
using graph::NodeId;

constexpr int kColumns = 7;
constexpr int kMostCounted = 5;  // the last column holds "5 or more"

void check(const MinesweeperOptions& o) {
  if (o.height < 1 || o.width < 1) {
    throw_input("minesweeper: height and width must be positive, got {} x {}", o.height, o.width);
  }
  if (static_cast<int64_t>(o.height) * o.width > std::numeric_limits<NodeId>::max()) {
    throw_input("minesweeper: {} x {} cells are more than the {} nodes that a graph can have",
                o.height, o.width, std::numeric_limits<NodeId>::max());
  }
  if (!(o.mines >= 0 && o.mines <= 1)) {
    throw_input("minesweeper: the share of mines must lie in [0, 1], got {}", o.mines);
  }
  if (!(o.unknown >= 0 && o.unknown <= 1)) {
    throw_input("minesweeper: the share of unknown cells must lie in [0, 1], got {}", o.unknown);
  }
}

graph::CsrGraph board(NodeId height, NodeId width) {
  std::vector<Edge> edges;
  edges.reserve(4 * static_cast<size_t>(height) * static_cast<size_t>(width));
  for (NodeId r = 0; r < height; ++r) {
    for (NodeId c = 0; c < width; ++c) {
      const NodeId here = r * width + c;
      const bool right = c + 1 < width, below = r + 1 < height, left = c > 0;
      if (right) edges.push_back({here, here + 1});
      if (below && left) edges.push_back({here, here + width - 1});
      if (below) edges.push_back({here, here + width});
      if (below && right) edges.push_back({here, here + width + 1});
    }
  }
  return graph::build_graph(height * width, edges).graph;
}

/// 1 on exactly round(share * n) random places, else 0.
std::vector<int32_t> mark(NodeId n, double share, Random random) {
  std::vector<int32_t> marks(static_cast<size_t>(n), 0);
  std::fill_n(marks.begin(), std::llround(share * n), 1);
  random.shuffle(marks);
  return marks;
}

}  // namespace

data::Dataset minesweeper(const MinesweeperOptions& options) {
  check(options);
  data::Dataset set;
  set.name = "minesweeper";
  set.classes = 2;
  set.graph = board(options.height, options.width);
  const NodeId n = set.graph.nodes();
  set.labels = mark(n, options.mines, random_for(options.seed, Purpose::kLabels));
  const auto unknown = mark(n, options.unknown, random_for(options.seed, Purpose::kUnknown));

  std::vector<int64_t> offsets(static_cast<size_t>(n) + 1);  // one entry per row
  std::iota(offsets.begin(), offsets.end(), 0);
  std::vector<int32_t> columns(static_cast<size_t>(n), 0);
  parallel_for(n, 1 << 12, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      if (unknown[static_cast<size_t>(i)] == 1) continue;
      int32_t near = 0;
      for (const NodeId j : set.graph.neighbors(static_cast<NodeId>(i))) {
        near += set.labels[static_cast<size_t>(j)];
      }
      columns[static_cast<size_t>(i)] = 1 + std::min(near, kMostCounted);
    }
  });
  set.features = data::Features::sparse(n, kColumns, std::move(offsets), std::move(columns),
                                        std::vector<float>(static_cast<size_t>(n), 1.0F));
  add_splits(set, options);
  return set;
}

}  // namespace dgat::synth
