// dgat partition, and training from its folder and in cells.
#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>

#include "dgat/core/files.h"
#include "support/dgat_json.h"
#include "support/toy_graph.h"

namespace dgat::test {
namespace {
using testing::HasSubstr;

class Partition : public ToyGraph {};

/// The tensors of a safetensors file: what follows its header, which names the data set's place.
std::string tensors_of(const std::string& path) {
  const std::string file = read_whole_file(path);
  uint64_t header = 0;
  std::memcpy(&header, file.data(), sizeof header);
  return file.substr(sizeof header + header);
}

TEST_F(Partition, WritesAFolderThatEveryVerbReadsAsTheDataSet) {
  const std::string parts = out("parts");
  const auto made = dgat_json({"partition", data(), "--parts", "4", "--out", parts});
  expect_fields(made, {{"nodes", 80}, {"parts", 4}});
  EXPECT_GT(made["cut"], 0);
  auto before = dgat_json({"inspect", data()}), after = dgat_json({"inspect", parts});
  EXPECT_EQ(after, before);
  EXPECT_EQ(train({"--out", out("a")}).exit, 0);
  const RunResult from_parts =
      run_dgat({"train", parts, "--hidden", "16", "--heads", "2", "--layers", "1", "--steps", "6",
                "--lr", "0.01", "--out", out("b")});
  ASSERT_EQ(from_parts.exit, 0) << from_parts.err;
  EXPECT_EQ(tensors_of(out("a") + "/split-1.safetensors"),
            tensors_of(out("b") + "/split-1.safetensors"));
  const RunResult again = run_dgat({"partition", data(), "--parts", "4", "--out", parts});
  EXPECT_EQ(again.exit, 2);
  EXPECT_THAT(again.err, HasSubstr("exists"));
}

TEST_F(Partition, NeedsAsManyNodesAsParts) {
  const RunResult run = run_dgat({"partition", data(), "--parts", "81", "--out", out("parts")});
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("[1, 80]"));
  EXPECT_FALSE(std::filesystem::exists(out("parts")));
}

TEST_F(Partition, TrainingInCellsWritesARunThatPredicts) {
  const RunResult run = train({"--cells", "8", "--per-step", "2", "--out", out("run")});
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("an approximation: 8 cells"));
  EXPECT_EQ(run_dgat({"predict", out("run"), "--out", out("p.csv")}).exit, 0);
  const RunResult verified = run_dgat({"verify", out("run")});
  EXPECT_EQ(verified.exit, 0) << verified.out << verified.err;
  // A graph with fewer nodes than the training had cells.
  EXPECT_EQ(run_dgat({"generate", "csbm", "--nodes", "6", "--classes", "3", "--degree", "1",
                      "--splits", "1", "--out", out("six.npz")})
                .exit,
            0);
  const RunResult six = run_dgat({"predict", out("run"), out("six.npz"), "--out", out("six.csv")});
  EXPECT_EQ(six.exit, 0) << six.err;
  EXPECT_EQ(train({"--cells", "2", "--per-step", "3", "--out", out("c")}).exit, 2);
  const auto plan = dgat_json({"train", data(), "--cells", "8", "--estimate"});
  EXPECT_TRUE(plan["fits"]);
}

}  // namespace
}  // namespace dgat::test
