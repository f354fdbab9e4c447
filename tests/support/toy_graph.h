#pragma once

#include <gtest/gtest.h>

#include <string>

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

  TempDir folder_;
};

}  // namespace dgat::test
