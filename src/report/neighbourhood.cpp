#include "neighbourhood.h"

#include <algorithm>
#include <numeric>

#include "dgat/core/random.h"

namespace dgat::report {
namespace {

/// The walk: which nodes are in, and how many edges they have among them.
class Walk {
 public:
  Walk(const graph::CsrGraph& before, const graph::CsrGraph& after, const DrawingLimits& limits)
      : before_(before),
        after_(after),
        limits_(limits),
        chosen_(static_cast<size_t>(before.nodes()), false) {}

  /// False when a limit is reached.
  bool add(graph::NodeId node) {
    if (chosen_[static_cast<size_t>(node)]) return true;
    const int64_t more = std::max(edges_to_chosen(before_, node), edges_to_chosen(after_, node));
    if (count_ >= limits_.sample_nodes || edges_ + more > limits_.sample_edges) return false;
    chosen_[static_cast<size_t>(node)] = true;
    queue_.push_back(node);
    edges_ += more;
    ++count_;
    return true;
  }

  /// Grows from what was added until the walk runs dry; false when a limit is reached.
  bool grow(Random& random) {
    for (; next_ < queue_.size(); ++next_) {
      const auto row = before_.neighbors(queue_[next_]);
      std::vector<graph::NodeId> neighbours(row.begin(), row.end());
      random.shuffle(neighbours);
      if (neighbours.size() > static_cast<size_t>(limits_.fan_out)) {
        neighbours.resize(static_cast<size_t>(limits_.fan_out));
      }
      for (const graph::NodeId other : neighbours) {
        if (!add(other)) return false;
      }
    }
    return true;
  }

  std::vector<graph::NodeId> nodes() const {
    std::vector<graph::NodeId> sorted = queue_;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

 private:
  int64_t edges_to_chosen(const graph::CsrGraph& graph, graph::NodeId node) const {
    const auto row = graph.neighbors(node);
    return std::count_if(row.begin(), row.end(),
                         [&](graph::NodeId other) { return chosen_[static_cast<size_t>(other)]; });
  }

  const graph::CsrGraph& before_;
  const graph::CsrGraph& after_;
  const DrawingLimits& limits_;
  std::vector<bool> chosen_;
  std::vector<graph::NodeId> queue_;
  size_t next_ = 0;
  int64_t count_ = 0, edges_ = 0;
};

}  // namespace

Neighbourhood choose_neighbourhood(const graph::CsrGraph& before, const graph::CsrGraph& after,
                                   const DrawingLimits& limits) {
  Neighbourhood result;
  const int64_t edges = std::max(before.edges(), after.edges());
  if (before.nodes() <= limits.whole_nodes && edges <= limits.whole_edges) {
    result.nodes.resize(static_cast<size_t>(before.nodes()));
    std::iota(result.nodes.begin(), result.nodes.end(), 0);
    return result;
  }
  result.whole = false;
  std::vector<graph::NodeId> starts(static_cast<size_t>(before.nodes()));
  std::iota(starts.begin(), starts.end(), 0);
  Random random(0);
  random.shuffle(starts);
  std::stable_partition(starts.begin(), starts.end(),
                        [&](graph::NodeId node) { return before.degree(node) > 0; });
  result.start = starts[0];
  Walk walk(before, after, limits);
  for (const graph::NodeId start : starts) {
    if (!walk.add(start) || !walk.grow(random)) break;
  }
  result.nodes = walk.nodes();
  return result;
}

}  // namespace dgat::report
