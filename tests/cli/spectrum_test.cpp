#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "dgat/data/load.h"
#include "dgat/data/npz.h"
#include "support/dgat_json.h"
#include "support/run_dgat.h"
#include "support/temp_dir.h"
#include "support/tiny_graphs.h"

namespace dgat::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A path of ten nodes: at gamma 0, lambda_k = 2 - 2 cos(pi k / 10).
class SpectrumVerb : public testing::Test {
 protected:
  SpectrumVerb() : in_((folder_ / "path.npz").string()), out_((folder_ / "phi.npz").string()) {
    data::Dataset set;
    set.name = "path";
    set.graph = path(10);
    set.labels.assign(10, 0);
    set.classes = 1;
    data::save_dataset(set, in_);
  }
  TempDir folder_;
  std::string in_, out_;
};

TEST_F(SpectrumVerb, PrintsTheKeysOfTheInterface) {
  const json answer = dgat_json({"spectrum", in_, "--alpha", "0.5", "--gamma", "0", "-k", "2"});
  expect_fields(answer, {{"alpha", 0.5},
                         {"gamma", 0.0},
                         {"components", 1},
                         {"multiplicity", 1},
                         {"converged", true}});
  EXPECT_TRUE(answer["solver"].is_string());
  EXPECT_GT(answer["seconds"].get<double>(), 0);
  EXPECT_GT(answer["participation_ratio"].get<double>(), 0);
  ASSERT_EQ(answer["eigenvalues"].size(), 2U);
  ASSERT_EQ(answer["residuals"].size(), 2U);
  for (size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(answer["eigenvalues"][k].get<double>(),
                2 - 2 * std::cos(std::numbers::pi * static_cast<double>(k + 1) / 10), 1e-12);
    EXPECT_LT(answer["residuals"][k].get<double>(), 1e-8);
  }
}

TEST_F(SpectrumVerb, WritesEigenpairs) {
  ASSERT_EQ(run_dgat({"spectrum", in_, "--alpha", "1", "--gamma", "0", "--out", out_}).exit, 0);
  const data::NpzReader file(out_);
  const auto values = file.read<double>("eigenvalues"), phi = file.read<double>("eigenvectors");
  ASSERT_EQ(values.size(), 1U);
  ASSERT_EQ(file.info("eigenvectors").shape, (std::vector<int64_t>{10, 1}));
  // A half cosine, with the entry of largest magnitude positive.
  const double scale = phi[0] / std::cos(std::numbers::pi * 0.05);
  EXPECT_GT(scale, 0);
  for (size_t i = 0; i < 10; ++i) {
    const double x = std::numbers::pi * (static_cast<double>(i) + 0.5) / 10;
    EXPECT_NEAR(phi[i], scale * std::cos(x), 1e-9);
  }
}

TEST_F(SpectrumVerb, ShowsATableAndASketch) {
  expect_printed({"spectrum", in_, "--gamma", "0.3"}, {"eigenvalue", "participation ratio"});
}

TEST_F(SpectrumVerb, SaysWhatIsWrong) {
  const RunResult gamma = run_dgat({"spectrum", in_, "--gamma", "1.5"});
  EXPECT_EQ(gamma.exit, 2);
  EXPECT_THAT(gamma.err, HasSubstr("gamma"));
  const RunResult solver = run_dgat({"spectrum", in_, "--solver", "magic"});
  EXPECT_EQ(solver.exit, 2);
  EXPECT_THAT(solver.err, HasSubstr("lanczos")) << "the message lists what there is";
}

}  // namespace
}  // namespace dgat::test
