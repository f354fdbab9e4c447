#include "dgat/rewire/edge_features.h"

#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"

namespace dgat::rewire {
namespace {

using graph::CsrGraph;
using graph::NodeId;

constexpr int64_t kRowGrain = 1 << 12;
constexpr double kFloor = 1e-8;  ///< keeps rows without any slope at zero

/// Row i of the graph with i put at its place; returns that place inside the row.
int64_t copy_row_with_self(std::span<const NodeId> row, NodeId i, int32_t* out) {
  int64_t at = 0;
  const auto degree = static_cast<int64_t>(row.size());
  while (at < degree && row[static_cast<size_t>(at)] < i) {
    out[at] = row[static_cast<size_t>(at)];
    ++at;
  }
  out[at] = i;
  for (int64_t a = at; a < degree; ++a) out[a + 1] = row[static_cast<size_t>(a)];
  return at;
}

/// (B_av, B_dx) of one row and one vector, `stride` floats from arc to arc.
void describe_row(std::span<const int32_t> senders, int64_t self, std::span<const double> phi,
                  float* out, int stride) {
  const double here = phi[static_cast<size_t>(senders[static_cast<size_t>(self)])];
  double slope = 0;
  for (const int32_t j : senders) slope += std::abs(phi[static_cast<size_t>(j)] - here);
  const double scale = slope + kFloor;
  double total = 0;
  for (const int32_t j : senders) {
    const double g = (phi[static_cast<size_t>(j)] - here) / scale;
    total += g;
    out[0] = static_cast<float>(std::abs(g));
    out[1] = static_cast<float>(g);
    out += stride;
  }
  out -= (static_cast<int64_t>(senders.size()) - self) * stride;
  out[0] = 0.0F;
  out[1] = static_cast<float>(0.0 - total);  // not -total: a row without slope gets +0
}

}  // namespace

MessageGraph message_graph(const CsrGraph& graph) {
  return message_graph(graph, spectral::NodeVectors({}, graph.nodes(), 0));
}

MessageGraph message_graph(const CsrGraph& graph, const spectral::NodeVectors& phi) {
  expects(phi.nodes == graph.nodes() &&
              static_cast<int64_t>(phi.values.size()) == phi.nodes * phi.count,
          "one entry of every eigenvector per node");
  const NodeId n = graph.nodes();
  MessageGraph result;
  result.feature_count = 2 * phi.count;
  result.offsets.resize(static_cast<size_t>(n) + 1);
  result.senders.resize(static_cast<size_t>(graph.arcs() + n));
  result.features.resize(result.senders.size() * static_cast<size_t>(result.feature_count));
  parallel_for(n, kRowGrain, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const auto i = static_cast<NodeId>(row);
      const int64_t begin = graph.begin(i) + i;  // one self loop per earlier row
      result.offsets[static_cast<size_t>(row) + 1] = graph.end(i) + i + 1;
      int32_t* senders = result.senders.data() + begin;
      const int64_t self = copy_row_with_self(graph.neighbors(i), i, senders);
      for (int c = 0; c < phi.count; ++c) {
        describe_row({senders, static_cast<size_t>(graph.degree(i)) + 1}, self, phi.vector(c),
                     result.features.data() + begin * result.feature_count + 2 * c,
                     result.feature_count);
      }
    }
  });
  return result;
}

MessageGraph without_self_loops(const MessageGraph& messages) {
  MessageGraph result;
  result.feature_count = messages.feature_count;
  const auto width = static_cast<size_t>(messages.feature_count);
  for (int64_t i = 0; i < messages.nodes(); ++i) {
    const auto row = static_cast<size_t>(i);
    for (auto arc = static_cast<size_t>(messages.offsets[row]);
         arc < static_cast<size_t>(messages.offsets[row + 1]); ++arc) {
      if (messages.senders[arc] == i) continue;
      result.senders.push_back(messages.senders[arc]);
      const float* features = messages.features.data() + arc * width;
      result.features.insert(result.features.end(), features, features + width);
    }
    result.offsets.push_back(result.arcs());
  }
  return result;
}

}  // namespace dgat::rewire
