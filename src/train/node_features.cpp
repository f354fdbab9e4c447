#include "dgat/train/node_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dgat/core/parallel.h"
#include "dgat/core/progress.h"
#include "dgat/graph/builder.h"

namespace dgat::train {
namespace {

constexpr int kVectors = 8;
constexpr double kGamma = 0.3;

/// Columns of one length, each with mean 0 and variance 1.
class Columns {
 public:
  explicit Columns(int64_t rows) : rows_(static_cast<size_t>(rows)) {}

  void add(std::string name, std::span<const double> values) {
    const double n = static_cast<double>(rows_);
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double v : values) squares += (v - mean) * (v - mean);
    const double deviation = std::sqrt(squares / n);
    // Rounding alone makes a spread in a column of equal values.
    const double scale = deviation > 1e-12 * std::max(1.0, std::abs(mean)) ? 1 / deviation : 0;
    std::vector<float>& column = columns_.emplace_back();
    for (const double v : values) column.push_back(static_cast<float>((v - mean) * scale));
    names_.push_back(std::move(name));
  }

  void give_to(data::Dataset& dataset) && {
    const size_t width = columns_.size();
    std::vector<float> values(rows_ * width);
    for (size_t c = 0; c < width; ++c) {
      for (size_t i = 0; i < rows_; ++i) values[i * width + c] = columns_[c][i];
    }
    dataset.features = data::Features::dense(static_cast<int64_t>(rows_),
                                             static_cast<int64_t>(width), std::move(values));
    dataset.feature_names = std::move(names_);
  }

 private:
  size_t rows_;
  std::vector<std::vector<float>> columns_;
  std::vector<std::string> names_;
};

void add_degree(const graph::CsrGraph& graph, Columns& columns) {
  std::vector<double> values;
  values.reserve(static_cast<size_t>(graph.nodes()));
  for (graph::NodeId i = 0; i < graph.nodes(); ++i) {
    values.push_back(std::log1p(static_cast<double>(graph.degree(i))));
  }
  columns.add("log_degree", values);
}

void add_phi(const graph::CsrGraph& graph, spectral::SpectralCache& cache, Columns& columns) {
  const auto spectrum = cache.solve(graph, {.gamma = kGamma, .k = kVectors});
  const std::vector<double> phi = spectrum->phi(/*alpha=*/1.0);
  const auto nodes = static_cast<size_t>(graph.nodes());
  for (size_t m = 0; m < size_t{kVectors}; ++m) {
    columns.add(fmt::format("phi_{}", m + 1), std::span(phi).subspan(m * nodes, nodes));
  }
}

void identity_features(data::Dataset& dataset) {
  const auto nodes = static_cast<size_t>(dataset.graph.nodes());
  std::vector<int64_t> offsets(nodes + 1);
  std::iota(offsets.begin(), offsets.end(), int64_t{0});
  std::vector<int32_t> columns(nodes);
  std::iota(columns.begin(), columns.end(), 0);
  dataset.features =
      data::Features::sparse(dataset.graph.nodes(), dataset.graph.nodes(), std::move(offsets),
                             std::move(columns), std::vector<float>(nodes, 1.0F));
  dataset.feature_names.clear();
}

void constant_feature(data::Dataset& dataset) {
  const auto nodes = static_cast<size_t>(dataset.graph.nodes());
  dataset.features =
      data::Features::dense(dataset.graph.nodes(), 1, std::vector<float>(nodes, 1.0F));
  dataset.feature_names = {"one"};
}

/// What the notice calls the new features.
const char* described(FeatureSource source) {
  switch (source) {
    case FeatureSource::kDegree:
      return "log-degree";
    case FeatureSource::kPhi:
      return "phi_1..phi_8";
    case FeatureSource::kOneHot:
      return "a column per node";
    case FeatureSource::kNone:
      return "a column of ones";
    default:
      return "log-degree, phi_1..phi_8 and local clustering";
  }
}

}  // namespace

std::vector<double> local_clustering(const graph::CsrGraph& graph) {
  std::vector<double> result(static_cast<size_t>(graph.nodes()), 0.0);
  constexpr int64_t kGrain = 256;
  parallel_for(graph.nodes(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t node = begin; node < end; ++node) {
      const auto i = static_cast<graph::NodeId>(node);
      const auto neighbours = graph.neighbors(i);
      if (neighbours.size() < 2) continue;
      int64_t closed = 0;  // ordered pairs of neighbours with an edge between them
      for (const graph::NodeId j : neighbours) {
        const auto others = graph.neighbors(j);
        const auto& shorter = others.size() < neighbours.size() ? others : neighbours;
        const auto& longer = others.size() < neighbours.size() ? neighbours : others;
        for (const graph::NodeId m : shorter) {
          closed += std::binary_search(longer.begin(), longer.end(), m) ? 1 : 0;
        }
      }
      const auto d = static_cast<double>(neighbours.size());
      result[static_cast<size_t>(node)] = static_cast<double>(closed) / (d * (d - 1));
    }
  });
  return result;
}

void make_node_features(data::Dataset& dataset, FeatureSource source,
                        spectral::SpectralCache& cache) {
  if (source == FeatureSource::kAuto && !dataset.features.empty()) return;
  notice(fmt::format("{}: {}; nodes start with {} (--features)", dataset.name,
                     dataset.features.empty() ? "no node features" : "its features are not used",
                     described(source)));
  if (source == FeatureSource::kOneHot) return identity_features(dataset);
  if (source == FeatureSource::kNone) return constant_feature(dataset);
  const graph::CsrGraph graph = graph::symmetrised(dataset.graph);
  const bool all = source == FeatureSource::kAuto;
  Columns columns(graph.nodes());
  if (all || source == FeatureSource::kDegree) add_degree(graph, columns);
  if (all || source == FeatureSource::kPhi) add_phi(graph, cache, columns);
  if (all) columns.add("clustering", local_clustering(graph));
  std::move(columns).give_to(dataset);
}

}  // namespace dgat::train
