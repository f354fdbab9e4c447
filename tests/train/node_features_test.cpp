#include "dgat/train/node_features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dgat/core/quiet_notices.h"
#include "support/small_run.h"
#include "support/tiny_graphs.h"

namespace dgat::train {
namespace {

data::Dataset on(graph::CsrGraph graph, FeatureSource source) {
  const QuietNotices quiet;
  data::Dataset dataset;
  dataset.graph = std::move(graph);
  spectral::SpectralCache cache;
  make_node_features(dataset, source, cache);
  return dataset;
}

std::vector<double> column(const data::Dataset& dataset, int64_t c) {
  const std::vector<float> all = dataset.features.to_dense();
  std::vector<double> values;
  for (int64_t i = 0; i < dataset.features.rows(); ++i) {
    values.push_back(all[static_cast<size_t>(i * dataset.features.cols() + c)]);
  }
  return values;
}

/// Values less their mean, over their deviation.
std::vector<double> standardised(std::vector<double> values) {
  double mean = 0, squares = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  for (const double v : values) squares += (v - mean) * (v - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(values.size()));
  for (double& v : values) v = (v - mean) / deviation;
  return values;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5) << i;
}

TEST(Clustering, HasClosedForms) {
  for (const double c : local_clustering(test::complete(6))) EXPECT_EQ(c, 1);
  for (const double c : local_clustering(test::star(5))) EXPECT_EQ(c, 0);
  for (const double c : local_clustering(test::ring(7))) EXPECT_EQ(c, 0);
  for (const double c : local_clustering(test::grid(4, 5))) EXPECT_EQ(c, 0);
}

TEST(Clustering, CountsTrianglesLikeADenseMatrix) {
  const graph::CsrGraph graph = test::random_graph(40, 0.2, 3);
  const std::vector<double> found = local_clustering(graph);
  for (graph::NodeId i = 0; i < graph.nodes(); ++i) {
    double closed = 0;  // (A^3)_ii
    for (graph::NodeId j = 0; j < graph.nodes(); ++j) {
      for (graph::NodeId m = 0; m < graph.nodes(); ++m) {
        closed += graph.has_arc(i, j) && graph.has_arc(j, m) && graph.has_arc(m, i) ? 1 : 0;
      }
    }
    const auto d = static_cast<double>(graph.degree(i));
    EXPECT_NEAR(found[static_cast<size_t>(i)], d < 2 ? 0 : closed / (d * (d - 1)), 1e-12) << i;
  }
}

TEST(NodeFeatures, DegreeIsTheLogarithmStandardised) {
  const graph::CsrGraph graph = test::random_connected_graph(50, 0.1, 1);
  std::vector<double> expected;
  for (graph::NodeId i = 0; i < graph.nodes(); ++i) {
    expected.push_back(std::log(1 + static_cast<double>(graph.degree(i))));
  }
  const data::Dataset dataset = on(graph, FeatureSource::kDegree);
  EXPECT_EQ(dataset.features.cols(), 1);
  expect_near(column(dataset, 0), standardised(expected));
}

TEST(NodeFeatures, PhiIsTheSpectrum) {
  const graph::CsrGraph graph = test::random_connected_graph(60, 0.08, 2);
  const data::Dataset dataset = on(graph, FeatureSource::kPhi);
  ASSERT_EQ(dataset.features.cols(), 8);
  const std::vector<double> phi = spectral::solve_spectrum(graph, {.gamma = 0.3, .k = 8}).phi(1);
  for (int64_t m = 0; m < 8; ++m) {
    const auto first = phi.begin() + m * graph.nodes();
    expect_near(column(dataset, m), standardised({first, first + graph.nodes()}));
  }
}

TEST(NodeFeatures, AutoIsAllOfThemOrWhatIsThere) {
  const data::Dataset made = on(test::random_connected_graph(60, 0.08, 2), FeatureSource::kAuto);
  EXPECT_EQ(made.features.cols(), 10);
  EXPECT_EQ(made.feature_names.front(), "log_degree");
  EXPECT_EQ(made.feature_names.back(), "clustering");
  data::Dataset own = test::small_dataset();
  const data::Features before = own.features;
  spectral::SpectralCache cache;
  make_node_features(own, FeatureSource::kAuto, cache);
  EXPECT_EQ(own.features, before);
}

TEST(NodeFeatures, OneHotIsTheIdentityAndNoneAConstant) {
  const data::Dataset one_hot = on(test::ring(5), FeatureSource::kOneHot);
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t c = 0; c < 5; ++c) {
      EXPECT_EQ(column(one_hot, c)[static_cast<size_t>(i)], i == c ? 1 : 0);
    }
  }
  const data::Dataset none = on(test::ring(5), FeatureSource::kNone);
  EXPECT_EQ(column(none, 0), std::vector<double>(5, 1.0));
}

TEST(NodeFeatures, ConstantColumnsAreZeroAndGraphsWithoutEdgesWork) {
  const data::Dataset ring = on(test::ring(6), FeatureSource::kDegree);
  EXPECT_EQ(column(ring, 0), std::vector<double>(6, 0.0));
  const data::Dataset bare =
      on(graph::CsrGraph({0, 0, 0, 0}, {}, /*directed=*/false), FeatureSource::kAuto);
  EXPECT_EQ(bare.features.cols(), 10);
  for (int64_t c = 0; c < 10; ++c) EXPECT_EQ(column(bare, c), std::vector<double>(3, 0.0)) << c;
}

}  // namespace
}  // namespace dgat::train
