#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/dgat_json.h"
#include "support/temp_dir.h"

namespace dgat::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json inspect(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "inspect");
  return dgat_json(arguments);
}

/// Two triangles joined by an edge, a node of its own, one self loop and one edge said twice.
class Inspect : public testing::Test {
 protected:
  Inspect() : path_((folder_ / "two").string()) {
    std::filesystem::create_directory(path_);
    std::ofstream(path_ + "/nodes.csv") << "id,label,x\na,red,1\nb,red,0\nc,red,0\nd,blue,0\n"
                                           "e,blue,0\nf,blue,2\ng,,0\n";
    std::ofstream(path_ + "/edges.csv") << "source,target\na,b\nb,c\nc,a\nd,e\ne,f\nf,d\nc,d\n"
                                           "b,a\ne,e\n";
  }
  TempDir folder_;
  std::string path_;
};

TEST_F(Inspect, CountsWhatIsThere) {
  const json card = inspect({path_});
  expect_fields(card, {{"nodes", 7},
                       {"edges", 7},
                       {"features", 1},
                       {"classes", 2},
                       {"components", 2},
                       {"isolated", 1},
                       {"largest_component", 6},
                       {"splits", 0},
                       {"dropped", {{"self_loops", 1}, {"duplicates", 1}}},
                       {"labelled", 6},
                       {"class_counts", json{3, 3}}});
  EXPECT_EQ(card["degree"]["max"], 3);
  EXPECT_EQ(card["degree"]["median"], 2);
  EXPECT_DOUBLE_EQ(card["homophily"]["edge"], 6.0 / 7);
  EXPECT_DOUBLE_EQ(card["homophily"]["node"], (4 + 2 * 2.0 / 3) / 6);
  EXPECT_DOUBLE_EQ(card["compatibility"][0][0], 6.0 / 7);
}

TEST_F(Inspect, ReadableCardHasTheSameNumbers) {
  expect_printed({"inspect", path_},
                 {"7 (dropped: 1 self loops, 1 duplicates)",
                  "2, the largest of 6 nodes; 1 isolated nodes", "0.8571", "-> red"});
}

TEST_F(Inspect, DirectedKeepsArcsButNotForHomophily) {
  const json both = inspect({path_}), arcs = inspect({path_, "--directed"});
  EXPECT_EQ(arcs["edges"], 8);
  EXPECT_EQ(arcs["dropped"]["duplicates"], 0);
  EXPECT_EQ(arcs["homophily"], both["homophily"]);
}

TEST_F(Inspect, AGraphWithoutLabelsHasNoHomophily) {
  const std::string path = (folder_ / "path.mtx").string();
  std::ofstream(path) << "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n";
  const json card = inspect({path});
  EXPECT_EQ(card["nodes"], 3);
  EXPECT_EQ(card["classes"], 0);
  EXPECT_TRUE(card["homophily"]["edge"].is_null());
  EXPECT_THAT(run_dgat({"inspect", path}).out, testing::Not(HasSubstr("homophily")));
}

TEST_F(Inspect, AMissingFileIsWrongUsage) {
  const RunResult run = run_dgat({"inspect", (folder_ / "nothing.npz").string()});
  EXPECT_EQ(run.exit, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("nothing.npz"));
}

TEST(InspectRealData, ThePapersValueStandsBesideOursForItsEditionOnly) {
  if (shared_datasets().empty()) GTEST_SKIP() << kNoDatasets;
  const auto card = [](const char* file) {
    return run_dgat({"inspect", (shared_datasets() / file).string()}).out;
  };
  EXPECT_THAT(card("cornell_old.npz"), HasSubstr("0.3009   0.30  "));
  EXPECT_THAT(card("pubmed_nofeatures.npz"), HasSubstr("0.7924   0.79  "));
  EXPECT_THAT(card("cornell.npz"), testing::Not(HasSubstr("paper")));
}

class Generate : public testing::Test {
 protected:
  json generate(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "generate");
    arguments.insert(arguments.end(), {"--out", file()});
    return dgat_json(arguments);
  }
  std::string file() const { return (folder_ / "made.npz").string(); }
  TempDir folder_;
};

TEST_F(Generate, EveryKindReadsBackAsItWasMade) {
  const std::vector<std::vector<std::string>> kinds{
      {"mixhop", "--mu", "0.2", "--nodes", "600", "--classes", "4", "--splits", "3"},
      {"minesweeper", "--height", "12", "--width", "9", "--split", "40/30/30"},
      {"csbm", "--nodes", "500", "--classes", "3", "--homophily", "0.1", "--features", "5"}};
  for (const auto& kind : kinds) {
    const json made = generate(kind), card = inspect({file()});
    EXPECT_EQ(made["generator"], kind[0]);
    EXPECT_EQ(made["path"], file());
    for (const char* key : {"nodes", "edges", "features", "classes", "splits"}) {
      EXPECT_EQ(made[key], card[key]) << kind[0] << " " << key;
    }
    EXPECT_EQ(made["edge_homophily"], card["homophily"]["edge"]);
  }
}

TEST_F(Generate, TheFileDependsOnTheSeedAlone) {
  const auto bytes = [&](const std::string& seed, const std::string& threads) {
    generate({"mixhop", "--nodes", "3000", "--seed", seed, "--threads", threads});
    std::ifstream in(file(), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string one = bytes("4", "1");
  EXPECT_TRUE(one == bytes("4", "2"));
  EXPECT_FALSE(one == bytes("5", "1"));
}

TEST_F(Generate, LeavesNothingBehindWhenItCannotBe) {
  const RunResult run = run_dgat({"generate", "mixhop", "--mu", "1.5", "--out", file()});
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("mixhop: mu must lie in [0, 1], got 1.5"));
  EXPECT_FALSE(std::filesystem::exists(file()));
  EXPECT_EQ(run_dgat({"generate", "mixhop"}).exit, 2);  // no --out
}

}  // namespace
}  // namespace dgat::test
