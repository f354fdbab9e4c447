// The paper's table of homophily levels, recomputed on the available graphs.
#include <gtest/gtest.h>

#include "dgat/data/load.h"
#include "dgat/graph/homophily.h"
#include "support/temp_dir.h"
#include "support/test_names.h"

namespace dgat::data {
namespace {

struct Row {
  const char* file;
  double node, edge, class_, aggregation, adjusted_edge, label_informativeness;
};
std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.file;
}
// The paper's cornell is the first geom-gcn edition, cornell_old.
constexpr Row kPaper[] = {
    {"chameleon.npz", 0.25, 0.23, 0.04, 0.36, 0.03, 0.05},
    {"squirrel.npz", 0.22, 0.22, 0.03, 0.0, 0.01, 0.0},
    {"actor.npz", 0.22, 0.22, 0.01, 0.62, 0.0, 0.0},
    {"cornell_old.npz", 0.3, 0.3, 0.02, 0.02, -0.08, 0.02},
    {"wisconsin.npz", 0.16, 0.18, 0.05, 0.0, -0.17, 0.13},
    {"texas.npz", 0.06, 0.06, 0.0, 0.0, -0.29, 0.19},
    {"cora.npz", 0.83, 0.81, 0.77, 0.99, 0.77, 0.59},
    {"citeseer.npz", 0.71, 0.74, 0.63, 0.97, 0.67, 0.45},
    {"pubmed_nofeatures.npz", 0.79, 0.8, 0.66, 0.94, 0.69, 0.41},
    {"roman_empire_nofeatures.npz", 0.05, 0.05, 0.02, 1.0, -0.05, 0.11},
    {"minesweeper.npz", 0.68, 0.68, 0.01, 0.61, 0.01, 0.0},
    {"tolokers.npz", 0.63, 0.59, 0.18, 0.0, 0.09, 0.01},
    {"squirrel_filtered.npz", 0.19, 0.21, 0.04, 0.0, 0.01, 0.0},
    {"chameleon_filtered.npz", 0.24, 0.24, 0.04, 0.25, 0.03, 0.01},
};

class PaperHomophily : public testing::TestWithParam<Row> {};

TEST_P(PaperHomophily, RoundsToThePublishedDecimals) {
  if (test::shared_datasets().empty()) GTEST_SKIP() << test::kNoDatasets;
  const Row& paper = GetParam();
  const Dataset set = load_dataset((test::shared_datasets() / paper.file).string());
  const auto measured = graph::measure_homophily(set.graph, set.labels, set.classes);
  constexpr double kRounding = 0.005 + 1e-9;
  EXPECT_NEAR(measured.node, paper.node, kRounding);
  EXPECT_NEAR(measured.edge, paper.edge, kRounding);
  EXPECT_NEAR(measured.class_, paper.class_, kRounding);
  EXPECT_NEAR(measured.aggregation, paper.aggregation, kRounding);
  EXPECT_NEAR(measured.adjusted_edge, paper.adjusted_edge, kRounding);
  EXPECT_NEAR(measured.label_informativeness, paper.label_informativeness, kRounding);
}

INSTANTIATE_TEST_SUITE_P(EveryGraphAtHand, PaperHomophily, testing::ValuesIn(kPaper),
                         [](const auto& tested) { return test::test_name(tested.param.file); });

}  // namespace
}  // namespace dgat::data
