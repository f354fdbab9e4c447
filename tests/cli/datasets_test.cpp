#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "dgat/data/load.h"
#include "support/run_dgat.h"
#include "support/temp_dir.h"
#include "support/tiny_graphs.h"

namespace dgat::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// The verb with a cache of its own.
class Datasets : public testing::Test {
 protected:
  Datasets() {
    setenv("DGAT_CACHE", (folder_ / "cache").c_str(), 1);
    unsetenv("DGAT_DATA");
    data::Dataset ring;
    ring.graph = test::ring(6);
    ring.labels = {0, 1, 0, 1, 0, 1};
    ring.classes = 2;
    data::save_dataset(ring, folder_ / "ring.npz");
  }
  ~Datasets() override { unsetenv("DGAT_CACHE"); }
  std::string ring() const { return (folder_ / "ring.npz").string(); }
  TempDir folder_;
};

TEST_F(Datasets, ListsThePaper) {
  const RunResult table = run_dgat({"datasets"});
  EXPECT_EQ(table.exit, 0);
  EXPECT_THAT(table.out, HasSubstr("chameleon-filtered"));
  const json list = json::parse(run_dgat({"datasets", "--json"}).out);
  ASSERT_EQ(list.at("datasets").size(), 16U);
  const json& first = list.at("datasets")[0];
  EXPECT_EQ(first.at("name"), "chameleon");
  EXPECT_EQ(first.at("edges"), 31371);
  EXPECT_EQ(first.at("homophily").at("aggregation"), 0.36);
  EXPECT_TRUE(first.at("local").is_null());
}

TEST_F(Datasets, FetchesAndThenAnswersToTheName) {
  const RunResult fetched =
      run_dgat({"datasets", "fetch", "cora", "--url", "file://" + ring(), "--json"});
  ASSERT_EQ(fetched.exit, 0) << fetched.err;
  EXPECT_EQ(json::parse(fetched.out).at("downloaded"), true);
  const json card = json::parse(run_dgat({"inspect", "cora", "--json"}).out);
  EXPECT_EQ(card.at("nodes"), 6);
  const RunResult verified = run_dgat({"datasets", "verify", "cora", "--json"});
  EXPECT_EQ(verified.exit, 1);  // it is not cora at all
  EXPECT_EQ(json::parse(verified.out).at("agrees"), false);
  EXPECT_THAT(verified.err, HasSubstr("cora: differs from the published cora in nodes, edges"));
}

TEST_F(Datasets, WrongUseIsExitCodeTwo) {
  EXPECT_EQ(run_dgat({"datasets", "fetch", "nope"}).exit, 2);
  EXPECT_EQ(run_dgat({"datasets", "fetch"}).exit, 2);
  EXPECT_EQ(run_dgat({"datasets", "fetch", "actor", "--offline"}).exit, 2);
  EXPECT_EQ(run_dgat({"inspect", "actor"}).exit, 2);
  const RunResult unnamed = run_dgat({"datasets", "verify", ring()});
  EXPECT_EQ(unnamed.exit, 2);
  EXPECT_THAT(unnamed.err, HasSubstr("ring is not in the catalogue"));
  EXPECT_EQ(run_dgat({"datasets", "fetch", "cora", "--url", "file:///nowhere/x.npz"}).exit, 1);
}

TEST_F(Datasets, ARealFileAgreesWithThePaper) {
  const auto shared = shared_datasets();
  if (shared.empty()) GTEST_SKIP() << kNoDatasets;
  const RunResult agrees = run_dgat({"datasets", "verify", (shared / "texas.npz").string()});
  EXPECT_EQ(agrees.exit, 0) << agrees.err;
  // The edition of cornell that replaced the paper's.
  const RunResult differs = run_dgat({"datasets", "verify", (shared / "cornell.npz").string()});
  EXPECT_EQ(differs.exit, 1);
  EXPECT_THAT(differs.err, HasSubstr("first geom-gcn edition"));
}

}  // namespace
}  // namespace dgat::test
