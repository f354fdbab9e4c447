#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "dgat/data/load.h"
#include "support/broken_files.h"
#include "support/run_dgat.h"
#include "support/temp_dir.h"
#include "support/tiny_graphs.h"

namespace dgat::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A ring of twelve nodes in three classes, one unlabelled; two splits.
data::Dataset ring_dataset() {
  data::Dataset dataset;
  dataset.name = "ring";
  dataset.graph = ring(12);
  dataset.labels = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, -1};
  dataset.classes = 3;
  dataset.features = data::Features::dense(12, 1, std::vector<float>(12, 0.5F));
  dataset.splits = {{{0, 1, 2}, {3, 4}, {5}}, {{5, 6}, {7}, {0, 1}}};
  return dataset;
}

class Convert : public testing::Test {
 protected:
  Convert() : in_((folder_ / "ring.npz").string()), out_((folder_ / "out.npz").string()) {
    data::save_dataset(ring_dataset(), in_);
  }
  TempDir folder_;
  std::string in_, out_;
};

TEST_F(Convert, WritesTheSameDataSetAndSaysSo) {
  const RunResult run = run_dgat({"convert", in_, out_});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(run.out,
            "ring: 12 nodes, 12 edges, 1 features, 3 classes, 2 splits; written to " + out_ + "\n");
  const data::Dataset back = data::load_dataset(out_), before = ring_dataset();
  EXPECT_EQ(back.graph, before.graph);
  EXPECT_EQ(back.labels, before.labels);
  EXPECT_EQ(back.features, before.features);
  EXPECT_EQ(back.splits, before.splits);
}

TEST_F(Convert, PrintsOneJsonObject) {
  const RunResult run = run_dgat({"convert", in_, out_, "--json"});
  ASSERT_EQ(run.exit, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["nodes"], 12);
  EXPECT_EQ(json["dropped"]["self_loops"], 0);
}

TEST_F(Convert, MakesSplitsThatDependOnTheSeedAlone) {
  const auto splits = [&](const std::string& seed, const std::string& threads) {
    const RunResult run = run_dgat({"convert", in_, out_, "--split", "50/25/25", "--splits", "4",
                                    "--seed", seed, "--threads", threads});
    EXPECT_EQ(run.exit, 0) << run.err;
    return data::load_dataset(out_).splits;
  };
  const auto first = splits("1", "1");
  EXPECT_EQ(first.size(), 4U);
  EXPECT_EQ(first, splits("1", "2"));
  EXPECT_NE(first, splits("2", "1"));
}

TEST_F(Convert, TakesTheSplitsOfACsvFile) {
  const std::string csv = (folder_ / "splits.csv").string();
  const RunResult written = run_dgat({"convert", in_, out_, "--write-splits", csv});
  ASSERT_EQ(written.exit, 0) << written.err;
  const RunResult run = run_dgat({"convert", in_, out_, "--split-file", csv, "--splits", "1"});
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(data::load_dataset(out_).splits, std::vector<data::Split>{ring_dataset().splits[0]});
}

TEST_F(Convert, RefusesWhatItCannotDo) {
  const auto fault = [&](const std::vector<std::string>& arguments) {
    const RunResult run = run_dgat(arguments);
    EXPECT_EQ(run.exit, 2) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_FALSE(std::filesystem::exists(out_));
    return run.err;
  };
  EXPECT_THAT(fault({"convert", in_, out_, "--splits", "3"}),
              HasSubstr("splits: 3 were asked for, ring has 2"));
  EXPECT_THAT(fault({"convert", in_, out_, "--split", "60/60/60"}), HasSubstr("got 60/60/60"));
  EXPECT_THAT(fault({"convert", in_, (folder_ / "x.what").string()}),
              HasSubstr("the name does not show which format to write"));
  EXPECT_THAT(fault({"convert", in_, (folder_ / "no-such" / "x.npz").string()}),
              HasSubstr("cannot be written"));
  EXPECT_THAT(fault({"convert", in_, out_, "--to", "pickle"}),
              HasSubstr("format pickle is not known"));
  fault({"convert", in_});
  fault({"convert", in_, out_, "--no-such-flag"});
}

TEST(BrokenFiles, EndWithExitCodeTwoAndLeaveNothingBehind) {
  const TempDir folder;
  for (const test::BrokenFile& broken : broken_files()) {
    const RunResult run =
        run_dgat({"convert", broken.path.string(), (folder / "out.npz").string()});
    EXPECT_EQ(run.exit, 2) << broken.path;
    EXPECT_EQ(run.out, "") << broken.path;
    EXPECT_THAT(run.err, StartsWith("dgat: " + broken.path.string()));
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << broken.path;
  }
}

TEST(BrokenFiles, DoNotReplaceAFileThatWasThere) {
  const TempDir folder;
  const auto out = folder / "out.npz";
  std::ofstream(out) << "precious";
  const auto broken = test::broken_folder() / "feature_nan.npz";
  EXPECT_EQ(run_dgat({"convert", broken.string(), out.string()}).exit, 2);
  std::string text;
  std::ifstream(out) >> text;
  EXPECT_EQ(text, "precious");
}

}  // namespace
}  // namespace dgat::test
