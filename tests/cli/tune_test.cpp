#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "dgat/core/files.h"
#include "support/run_dgat.h"
#include "support/toy_graph.h"

namespace dgat::test {
namespace {
using nlohmann::json;
using testing::HasSubstr;

using Tune = ToyGraph;

TEST_F(Tune, AdviceIsOneObjectAndTheDryRunSaysTheSame) {
  const RunResult run = run_dgat({"advise", data(), "--race", "off", "--json"});
  ASSERT_EQ(run.exit, 0) << run.err;
  json advice = json::parse(run.out);
  for (const char* key : {"best", "clear", "reason", "gammas", "reference", "candidates"}) {
    EXPECT_TRUE(advice.contains(key)) << key;
  }
  EXPECT_EQ(advice["gammas"].size(), 8U);
  const RunResult dry = run_dgat({"tune", data(), "--dry", "--json"});
  ASSERT_EQ(dry.exit, 0) << dry.err;
  json same = json::parse(dry.out);
  advice.erase("seconds");
  same.erase("seconds");
  EXPECT_EQ(advice, same);
  const RunResult few = run_dgat({"tune", data(), "--dry", "--json", "--search", "gamma=0.2,0.9",
                                  "--search", "rewire=none,add"});
  ASSERT_EQ(few.exit, 0) << few.err;
  EXPECT_EQ(json::parse(few.out)["gammas"].size(), 2U);
  const RunResult both = run_dgat({"tune", data(), "--dry", "--json", "--search", "gamma=0.2,0.9",
                                   "--search", "rewire=none,add", "--search", "alpha=0,1"});
  ASSERT_EQ(both.exit, 0) << both.err;  // alphas that are named meet every rewiring
  EXPECT_EQ(json::parse(both.out)["candidates"].size(), 8U);
  const RunResult bad = run_dgat({"tune", data(), "--dry", "--search", "gamma=0.2x"});
  EXPECT_EQ(bad.exit, 2);
  EXPECT_THAT(bad.err, HasSubstr("gamma: a number was expected, got '0.2x'"));
  const RunResult fixed = run_dgat({"tune", data(), "--dry", "--json", "--rewire", "prune-far",
                                    "--epsilon", "q0.3", "--alpha", "1"});
  ASSERT_EQ(fixed.exit, 0) << fixed.err;
  const json fixed_advice = json::parse(fixed.out);
  EXPECT_FALSE(fixed_advice["candidates"].empty());
  for (const json& candidate : fixed_advice["candidates"]) {
    EXPECT_EQ(candidate["rewire"], "prune-far");
    EXPECT_EQ(candidate["epsilon"], "q0.3");
  }
  const RunResult plain = run_dgat({"tune", data(), "--dry", "--model", "gat"});
  EXPECT_EQ(plain.exit, 2);
  EXPECT_THAT(plain.err, HasSubstr("gat has no directions"));
  const RunResult dgn =
      run_dgat({"advise", data(), "--model", "dgn", "--gammas", "0.1", "--race", "off"});
  EXPECT_THAT(dgn.out, HasSubstr("--laplacian tuned --gamma 0.1")) << "or gamma has no effect";
  const RunResult text =
      run_dgat({"advise", data(), "--gammas", "0.1,1", "--rewirings", "none", "--race", "off"});
  EXPECT_THAT(text.out,
              HasSubstr("dgat train " + data() + " --model dgat --recipe residual --gamma"));
}

TEST_F(Tune, ARaceNamesItsBestAndEndsWithinItsTrainings) {
  const std::vector<std::string> question = {"advise",      data(),        "--gammas", "0.3,1",
                                             "--alphas",    "1",           "--split",  "0",
                                             "--rewirings", "none,hub,add"};
  const auto ask = [&](std::vector<std::string> more) {
    more.insert(more.begin(), question.begin(), question.end());
    return run_dgat(more);
  };
  const RunResult run = ask({"--trials", "9", "--json"});
  ASSERT_EQ(run.exit, 0) << run.err;
  const json advice = json::parse(run.out);
  const json& race = advice["race"];
  EXPECT_TRUE(race["raced"]);
  EXPECT_LE(race["trainings"], 9);
  EXPECT_EQ(race["levels"], json::parse(R"([{"steps":15,"splits":1},{"steps":60,"splits":1}])"));
  for (const char* key : {"gamma", "alpha", "rewire", "epsilon"}) {
    EXPECT_EQ(advice["best"][key], race["candidates"][0][key]) << key;
  }
  EXPECT_EQ(advice["clear"], race["clear"]);
  EXPECT_THAT(advice["reason"].get<std::string>(), HasSubstr("In a race of "));
  const RunResult text = ask({"--trials", "9"});
  EXPECT_THAT(text.out, HasSubstr("raced"));
  EXPECT_THAT(text.out, HasSubstr("dgat train " + data()));
  const RunResult poor = ask({"--trials", "2", "--json"});
  ASSERT_EQ(poor.exit, 0) << poor.err;
  EXPECT_FALSE(json::parse(poor.out)["race"]["raced"]);
  const RunResult wrong = ask({"--race", "soon"});
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_THAT(wrong.err, HasSubstr("soon"));
}

TEST_F(Tune, WinnerTrainsAndTheSecondSearchOnlyReadsTheLedger) {
  const std::vector<std::string> command = {"tune",           data(),
                                            "--out",          out(),
                                            "--steps",        "6",
                                            "--hidden",       "16",
                                            "--heads",        "2",
                                            "--layers",       "1",
                                            "--lr",           "0.01",
                                            "--dropout",      "0.2",
                                            "--weight-decay", "0",
                                            "--search",       "gamma=0.1,1",
                                            "--search",       "rewire=none,add",
                                            "--search",       "alpha=1",
                                            "--json"};
  const RunResult first = run_dgat(command);
  ASSERT_EQ(first.exit, 0) << first.err;
  const json result = json::parse(first.out);
  EXPECT_EQ(result, json::parse(read_whole_file(out() + "/tune.json")));
  EXPECT_EQ(result["ended"], "exhausted");
  EXPECT_THAT(read_whole_file(out() + "/tune.md"), HasSubstr("Sensitivity to gamma"));
  const std::string ledger = read_whole_file(out() + "/ledger.jsonl");
  json second = json::parse(run_dgat(command).out);
  second["seconds"] = result["seconds"];
  EXPECT_EQ(second, result);
  EXPECT_EQ(read_whole_file(out() + "/ledger.jsonl"), ledger);
  const RunResult trained =
      run_dgat({"train", "--config", out() + "/config.yaml", "--out", out() + "/run", "--json"});
  ASSERT_EQ(trained.exit, 0) << trained.err;
  const double tuned = result["winner"]["val"].back();
  EXPECT_NEAR(json::parse(trained.out)["val_mean"].get<double>(), tuned, 1e-12);
}

TEST_F(Tune, WrongUsageIsExplained) {
  EXPECT_THAT(run_dgat({"tune", data()}).err, HasSubstr("--out DIR"));
  EXPECT_THAT(run_dgat({"advise", data(), "--model", "gat"}).err, HasSubstr("has no directions"));
  EXPECT_THAT(run_dgat({"advise", data(), "--rewirings", "auto"}).err, HasSubstr("auto"));
  EXPECT_EQ(run_dgat({"tune", data(), "--search", "lr", "--out", out()}).exit, 2);
}

}  // namespace
}  // namespace dgat::test
