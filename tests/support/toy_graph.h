#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/run_dgat.h"
#include "support/temp_dir.h"

namespace dgat::test {

/// A folder with data.npz, a graph of 80 nodes and three classes on which every verb takes
/// milliseconds.
class ToyGraph : public testing::Test {
 protected:
  explicit ToyGraph(int splits = 2) {
    const RunResult made = run_dgat({"generate", "csbm", "--nodes", "80", "--classes", "3",
                                     "--splits", std::to_string(splits), "--out", data()});
    EXPECT_EQ(made.exit, 0) << made.err;
  }
  std::string data() const { return (folder_ / "data.npz").string(); }
  std::string out(const std::string& name = "run") const { return (folder_ / name).string(); }

  /// Trains a small network on it, with extra arguments.
  RunResult train(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"train",    data(), "--hidden", "16", "--heads", "2",
                                          "--layers", "1",    "--steps",  "6",  "--lr",    "0.01"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_dgat(arguments);
  }

  TempDir folder_;
};

}  // namespace dgat::test
