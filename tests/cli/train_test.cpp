#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "dgat/core/files.h"
#include "dgat/tensor/precision.h"
#include "support/run_dgat.h"
#include "support/toy_graph.h"

namespace dgat::test {
namespace {
using nlohmann::json;
using testing::HasSubstr;

class Train : public ToyGraph {};

TEST_F(Train, LeavesEveryFileAndPrintsOneJsonObject) {
  const RunResult run = train({"--out", out(), "--json"});
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(json::parse(run.out), json::parse(read_whole_file(out() + "/summary.json")));
  for (const char* name :
       {"config.yaml", "log.jsonl", "report.html", "split-0.safetensors", "split-1.safetensors"}) {
    EXPECT_TRUE(std::filesystem::exists(out() + "/" + name)) << name;
  }
  EXPECT_THAT(read_whole_file(out() + "/report.html"), HasSubstr("<html"));
}

TEST_F(Train, ConfigOfARunGivesTheSameResultAgain) {
  ASSERT_EQ(train({"--out", out("a"), "--dropout", "0.4"}).exit, 0);
  const RunResult again =
      run_dgat({"train", "--config", out("a") + "/config.yaml", "--out", out("b")});
  ASSERT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(read_whole_file(out("a") + "/split-1.safetensors"),
            read_whole_file(out("b") + "/split-1.safetensors"));
}

TEST_F(Train, UsesTheGraphThatRewireShows) {
  const RunResult trained = train({"--out", out(), "--json"});
  ASSERT_EQ(trained.exit, 0) << trained.err;
  const json shown = json::parse(run_dgat({"rewire", data(), "--json"}).out);
  const json summary = json::parse(trained.out);
  for (const char* key : {"mode", "epsilon", "dropped", "added", "edges_after", "components_after",
                          "homophily_after"}) {
    EXPECT_EQ(shown[key], summary["rewiring"][0][key]) << key;
  }
  for (const char* key : {"alpha", "gamma", "eigenvalues"}) {
    EXPECT_EQ(shown[key], summary["spectrum"][key]) << key;
  }
  const json spectrum = json::parse(
      run_dgat({"spectrum", data(), "--json", "--gamma", summary["rewiring"][0]["gamma"].dump(),
                "--alpha", summary["rewiring"][0]["alpha"].dump()})
          .out);
  EXPECT_EQ(spectrum["eigenvalues"], summary["spectrum"]["eigenvalues"]);
}

TEST_F(Train, ThreadsDoNotChangeTheBits) {
  ASSERT_EQ(train({"--out", out("one"), "--threads", "1"}).exit, 0);
  ASSERT_EQ(train({"--out", out("two"), "--threads", "2", "--jobs", "2"}).exit, 0);
  for (const char* name : {"/split-0.safetensors", "/split-1.safetensors"}) {
    const std::string a = read_whole_file(out("one") + name),
                      b = read_whole_file(out("two") + name);
    EXPECT_EQ(a.substr(a.size() - 4096), b.substr(b.size() - 4096)) << name;
  }
}

TEST_F(Train, Bf16NeedsAmxAndAutoTakesWhatIsThere) {
  const bool amx = tensor::has_bf16();
  const RunResult any = train({"--out", out("auto"), "--precision", "auto"});
  ASSERT_EQ(any.exit, 0) << any.err;
  EXPECT_THAT(read_whole_file(out("auto") + "/config.yaml"),
              HasSubstr(amx ? "precision: bf16" : "precision: f32"));
  const RunResult bf16 = train({"--out", out("bf16"), "--precision", "bf16"});
  EXPECT_EQ(bf16.exit, amx ? 0 : 2) << bf16.err;
  if (amx) return;
  EXPECT_THAT(bf16.err, HasSubstr("precision: bf16 needs a processor with AMX"));
  EXPECT_FALSE(std::filesystem::exists(out("bf16")));
}

TEST_F(Train, AnExistingRunIsNotReplaced) {
  ASSERT_EQ(train({"--out", out()}).exit, 0);
  const RunResult second = train({"--out", out()});
  EXPECT_EQ(second.exit, 2);
  EXPECT_THAT(second.err, HasSubstr("--overwrite"));
  EXPECT_EQ(train({"--out", out(), "--overwrite"}).exit, 0);
  const RunResult resumed = run_dgat({"train", "--resume", "--out", out()});
  EXPECT_EQ(resumed.exit, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("nothing to resume"));
}

TEST_F(Train, ResumeKeepsTheOptionsOfTheRun) {
  ASSERT_EQ(train({"--out", out()}).exit, 0);
  std::filesystem::remove(out() + "/summary.json");
  const RunResult other = run_dgat({"train", "--resume", "--out", out(), "--lr", "0.5"});
  EXPECT_EQ(other.exit, 2);
  EXPECT_THAT(other.err, HasSubstr("--lr 0.5 differs from 0.01"));
  EXPECT_EQ(run_dgat({"train", "--resume", "--out", out()}).exit, 0);
}

TEST_F(Train, WrongUsageIsExplained) {
  const RunResult value = train({"--gamma", "2"});
  EXPECT_EQ(value.exit, 2);
  EXPECT_THAT(value.err, HasSubstr("gamma: must lie in [0, 1], got 2"));
  const RunResult model = train({"--model", "dgta"});
  EXPECT_EQ(model.exit, 2);
  EXPECT_THAT(model.err, HasSubstr("did you mean dgat?"));
  std::ofstream(folder_ / "bad.yaml") << "stepz: 3\n";
  const RunResult config = train({"--config", (folder_ / "bad.yaml").string()});
  EXPECT_EQ(config.exit, 2);
  EXPECT_THAT(config.err, HasSubstr("bad.yaml:1: unknown option stepz; did you mean steps?"));
  EXPECT_EQ(run_dgat({"train"}).exit, 2);
}

TEST_F(Train, PredictWritesCsvWithIdsAndClasses) {
  ASSERT_EQ(train({"--out", out()}).exit, 0);
  const std::string csv = out("p.csv");
  const RunResult run = run_dgat({"predict", out(), "--split", "1", "--attention", "--out", csv});
  ASSERT_EQ(run.exit, 0) << run.err;
  const std::string text = read_whole_file(csv);
  EXPECT_THAT(text, testing::StartsWith("id,class,probability_0,probability_1,probability_2\n0,"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 81);
  EXPECT_THAT(read_whole_file(out("p-attention.csv")),
              testing::StartsWith("receiver,sender,layer,head,weight\n0,"));
  EXPECT_EQ(run_dgat({"predict", out(), "--out", out("p.txt")}).exit, 2);
}

TEST_F(Train, ModelsAreListedAndCounted) {
  const RunResult list = run_dgat({"models", "--json"});
  ASSERT_EQ(list.exit, 0);
  EXPECT_GE(json::parse(list.out)["models"].size(), 15U);
  const RunResult one = run_dgat({"models", "dgat", "--data", data(), "--json"});
  ASSERT_EQ(one.exit, 0) << one.err;
  EXPECT_GT(json::parse(one.out)["parameters"]["2"], 1'000'000);
  const RunResult table = run_dgat({"models", "--data", data()});
  EXPECT_THAT(table.out, testing::ContainsRegex("\nh2gcn +own +2 +[0-9]+ +own, one-hop"));
  const RunResult page = run_dgat({"models", "h2gcn"});
  EXPECT_THAT(page.out, testing::HasSubstr("r_0 = ReLU(X W_e)"));
  EXPECT_THAT(page.out, testing::HasSubstr("  relu=1  "));
  EXPECT_THAT(page.out, testing::HasSubstr("  feature_scaling: raw, row-sum\n"));
}

TEST_F(Train, TheReportOfAModelWithoutAttentionHasItsPredictions) {
  const RunResult run = train({"--out", out(), "--model", "gcn"});
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(run.err.find("without graph"), std::string::npos) << run.err;
  EXPECT_THAT(read_whole_file(out() + "/report.html"), HasSubstr("onfusion"));
  const RunResult attention =
      run_dgat({"predict", out(), "--attention", "--out", out("p") + ".npz"});
  EXPECT_EQ(attention.exit, 2);
  EXPECT_THAT(attention.err, HasSubstr("no attention"));
}

TEST_F(Train, AConfigOfAnotherModelTrainsTheOneAskedFor) {
  ASSERT_EQ(train({"--out", out("gat"), "--model", "gat"}).exit, 0);
  const RunResult direct = train({"--out", out("direct"), "--model", "dgat", "--json"});
  const RunResult given = run_dgat({"train", "--config", out("gat") + "/config.yaml", "--model",
                                    "dgat", "--out", out("given"), "--json"});
  ASSERT_EQ(given.exit, 0) << given.err;
  EXPECT_EQ(json::parse(given.out)["parameters"], json::parse(direct.out)["parameters"]);
  EXPECT_EQ(json::parse(given.out)["test_mean"], json::parse(direct.out)["test_mean"]);
}

TEST_F(Train, WhatAPlainModelIgnoresIsSaidAndPgcnTakesGamma) {
  EXPECT_THAT(train({"--out", out("gcn"), "--model", "gcn", "--gamma", "0.1"}).err,
              HasSubstr("--gamma 0.1 is ignored"));
  EXPECT_THAT(train({"--out", out("dgn"), "--model", "dgn", "--gamma", "0.1"}).err,
              HasSubstr("random-walk Laplacian (laplacian: default) has no gamma; --gamma 0.1"));
  const RunResult pgcn =
      train({"--out", out("pgcn"), "--model", "pgcn", "--gamma", "0.1", "--json"});
  EXPECT_EQ(pgcn.err.find("ignored"), std::string::npos) << pgcn.err;
  EXPECT_EQ(json::parse(pgcn.out)["options"]["extra"], "gamma=0.1");
}

TEST_F(Train, TheSameCommandResumes) {
  const std::vector<std::string> command = {"--out",   out(), "--model", "gprgnn",
                                            "--extra", "k=5", "--resume"};
  ASSERT_EQ(train(command).exit, 0);
  const RunResult again = train(command);
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("gprgnn on data: test accuracy"));
  std::vector<std::string> other = command;
  other[5] = "k=6";
  EXPECT_THAT(train(other).err, HasSubstr("--extra"));
}

TEST_F(Train, ADirectedGraphIsASwitchAndFilesAreNamedInFull) {
  std::ofstream splits(out("splits.csv"));
  splits << "id,split0\n";
  for (int i = 0; i < 80; ++i) {
    splits << i << "," << (i % 3 == 0 ? "test" : i % 3 == 1 ? "val" : "train") << "\n";
  }
  splits.close();
  const std::string relative =
      std::filesystem::relative(out("splits.csv"), std::filesystem::current_path()).string();
  const RunResult run =
      train({"--out", out(), "--directed", "--model", "gcn", "--split-file", relative});
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(
      read_whole_file(out() + "/config.yaml"),
      testing::AllOf(HasSubstr("directed: on"), HasSubstr("split_file: " + out("splits.csv"))));
  EXPECT_THAT(train({"--out", out("b"), "--split", "60/20/20", "--split-file", relative}).err,
              HasSubstr("--split-file"));
}

TEST_F(Train, NumbersAndFilesThatMakeNoSenseAreRefused) {
  EXPECT_EQ(train({"--out", out(), "--seed", "-1"}).exit, 2);
  EXPECT_EQ(train({"--out", out(), "--seed", "18446744073709551616"}).exit, 2);
  EXPECT_EQ(train({"--out", out(), "--clip", "inf"}).exit, 2);
  EXPECT_EQ(run_dgat({"spectrum", data(), "--out", out("x.txt")}).exit, 2);
  EXPECT_EQ(run_dgat({"rewire", data(), "--out", out("x.csv")}).exit, 2);
}

TEST_F(Train, AFileNameThatIsNotUtf8CostsNoResult) {
  const std::string strange = out("caf\xe9.npz");
  std::filesystem::copy_file(data(), strange);
  const RunResult run = run_dgat({"train", strange, "--model", "gcn", "--hidden", "8", "--layers",
                                  "1", "--steps", "2", "--out", out()});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_TRUE(std::filesystem::exists(out() + "/split-0.safetensors"));
}

TEST_F(Train, AMetricThatCannotRiseChoosesNoStepAndThisIsSaid) {
  const std::string folder = out("clear");
  std::filesystem::create_directory(folder);
  std::ofstream nodes(folder + "/nodes.csv"), edges(folder + "/edges.csv");
  nodes << "id,label,x,y\n";
  edges << "source,target\n";
  for (int i = 0; i < 20; ++i) {
    nodes << i << ',' << i % 2 << ',' << i % 2 << ',' << 1 - i % 2 << '\n';
    edges << i << ',' << (i + 1) % 20 << '\n';
  }
  nodes.close();
  edges.close();
  const RunResult run =
      run_dgat({"train", folder, "--model", "resnet", "--hidden", "8", "--layers", "1", "--steps",
                "30", "--splits", "1", "--lr", "0.1", "--out", out()});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err,
              HasSubstr("train: split 0: the network of the first evaluation is kept, because its "
                        "validation roc_auc is 100 % already; 4 validation nodes are too few"));
  EXPECT_THAT(train({"--out", out("b")}).err, testing::Not(HasSubstr("first evaluation is kept")));
}

TEST_F(Train, RandomSplitsAreSaid) {
  const std::string bare = out("bare.npz");
  ASSERT_EQ(run_dgat({"generate", "csbm", "--nodes", "60", "--splits", "0", "--out", bare}).exit,
            0);
  EXPECT_THAT(run_dgat({"train", bare, "--model", "gcn", "--hidden", "8", "--layers", "1",
                        "--steps", "1", "--splits", "2", "--out", out()})
                  .err,
              HasSubstr("2 random ones were made, 60/20/20"));
}

}  // namespace
}  // namespace dgat::test
