// The verbs that train many networks, on a graph small enough for milliseconds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "dgat/core/files.h"
#include "support/run_dgat.h"
#include "support/toy_graph.h"

namespace dgat::test {
namespace {
using nlohmann::json;
using testing::HasSubstr;

class StudyVerbs : public ToyGraph {
 protected:
  StudyVerbs() : ToyGraph(/*splits=*/3) {}
  RunResult study(std::vector<std::string> arguments) const {
    const std::vector<std::string> small = {"--hidden", "16",      "--heads", "2",    "--layers",
                                            "1",        "--steps", "5",       "--lr", "0.01"};
    arguments.insert(arguments.end(), small.begin(), small.end());
    return run_dgat(arguments);
  }
};

TEST_F(StudyVerbs, AListInTheConfigOfCompareIsAGrid) {
  std::ofstream(folder_ / "grid.yaml") << "gamma: [0.1, 0.5, 1]\ndropout: 0.1\n";
  const std::string grid = (folder_ / "grid.yaml").string();
  const RunResult compared = study(
      {"compare", data(), "--models", "gat,dgat", "--config", grid, "--out", out(), "--json"});
  ASSERT_EQ(compared.exit, 0) << compared.err;
  const json rows = json::parse(compared.out)["rows"];
  EXPECT_EQ(rows[0]["choices"].size(), 1U) << "gat has no gamma";
  EXPECT_EQ(rows[1]["choices"].size(), 3U);
  const json versus =
      (rows[0]["versus_reference"].is_null() ? rows[1] : rows[0])["versus_reference"];
  EXPECT_EQ(versus["wins"].get<int>() + versus["ties"].get<int>() + versus["losses"].get<int>(), 3);
  EXPECT_LE(versus["bootstrap_low"], versus["difference"]);
  EXPECT_GE(versus["bootstrap_high"], versus["difference"]);
  const RunResult trained = run_dgat({"train", data(), "--config", grid, "--out", out("t")});
  EXPECT_EQ(trained.exit, 2);
  EXPECT_THAT(trained.err, HasSubstr("grid.yaml:1: gamma has a list of values"));
}

TEST_F(StudyVerbs, TheConfigOfCompareNamesTheModelsUnlessTheCommandLineDoes) {
  const auto rows = [this](const std::string& yaml, std::vector<std::string> more) {
    std::ofstream(folder_ / "models.yaml") << yaml;
    std::vector<std::string> command = {
        "compare", data(), "--config", (folder_ / "models.yaml").string(),
        "--out",   out(),  "--json"};
    command.insert(command.end(), more.begin(), more.end());
    const RunResult result = study(command);
    EXPECT_EQ(result.exit, 0) << result.err;
    std::vector<std::string> names;
    const json printed = json::parse(result.out);
    for (const json& row : printed["rows"]) names.push_back(row["model"].get<std::string>());
    std::ranges::sort(names);
    return names;
  };
  EXPECT_EQ(rows("model: [resnet, gcn]\n", {}), (std::vector<std::string>{"gcn", "resnet"}));
  EXPECT_EQ(rows("model: gcn\n", {}), std::vector<std::string>{"gcn"});
  EXPECT_EQ(rows("model: [resnet, gcn]\n", {"--models", "sage"}), std::vector<std::string>{"sage"});
}

TEST_F(StudyVerbs, CompareWritesEveryFormatAndContinuesFromItsLedger) {
  const RunResult first =
      study({"compare", data(), "--models", "gat,dgat", "--out", out(), "--json"});
  ASSERT_EQ(first.exit, 0) << first.err;
  const json printed = json::parse(first.out);
  EXPECT_EQ(printed, json::parse(read_whole_file(out() + "/compare.json")));
  for (const char* key : {"study", "dataset", "metric", "splits", "test_to_train", "seconds",
                          "machine", "reference", "rows", "table", "trials_left"}) {
    EXPECT_TRUE(printed.contains(key)) << key;
  }
  EXPECT_GE(printed["threads"], 1) << "of a trial, as its line in the ledger says";
  ASSERT_EQ(printed["rows"].size(), 2U);
  for (const char* key : {"name", "failure", "model", "layers", "options", "parameters",
                          "test_mean", "test_std", "val_mean", "seconds_per_step", "peak_rss_bytes",
                          "rank", "versus_reference", "published"}) {
    EXPECT_TRUE(printed["rows"][0].contains(key)) << key;
  }
  EXPECT_EQ(printed["rows"][0]["splits"].size(), 3U);
  for (const char* extension : {"md", "tex", "csv"}) {
    EXPECT_THAT(read_whole_file(out() + "/compare." + extension), HasSubstr("dgat"));
  }
  const std::string ledger = read_whole_file(out() + "/ledger.jsonl");
  // A third model adds its own trials and nothing else; a torn end is repaired.
  std::ofstream(out() + "/ledger.jsonl", std::ios::app) << "{\"key\":\"cut sh";
  const RunResult second = study(
      {"compare", data(), "--models", "gat,dgat,resnet:lr=0.1/0.01", "--out", out(), "--json"});
  ASSERT_EQ(second.exit, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("damaged line"));
  const json more = json::parse(second.out);
  ASSERT_EQ(more["rows"].size(), 3U);
  for (size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(more["rows"][r]["splits"], printed["rows"][r]["splits"]) << "seconds and all";
  }
  EXPECT_EQ(more["rows"][2]["choices"].size(), 2U);
  const std::string longer = read_whole_file(out() + "/ledger.jsonl");
  EXPECT_EQ(longer.substr(0, ledger.size()), ledger);
  EXPECT_EQ(std::count(longer.begin(), longer.end(), '\n'), 3 + 3 + 1 + 6);
}

TEST_F(StudyVerbs, AMeanOverOneSplitHasNoDeviation) {
  for (const char* splits : {"1", "2"}) {
    const RunResult result =
        study({"compare", data(), "--models", "gat", "--splits", splits, "--out", out()});
    ASSERT_EQ(result.exit, 0) << result.err;
    EXPECT_EQ(result.out.find("±") != std::string::npos, splits == std::string("2")) << result.out;
  }
}

TEST_F(StudyVerbs, CompareKeepsARowThatCannotRun) {
  const RunResult result = study({"compare", data(), "--models", "gat,gat-sep", "--recipe",
                                  "classic", "--out", out(), "--json"});
  ASSERT_EQ(result.exit, 0) << result.err;
  const json rows = json::parse(result.out)["rows"];
  EXPECT_TRUE(rows[0]["failure"].is_null());
  EXPECT_THAT(rows[1]["failure"].get<std::string>(), HasSubstr("no classic form"));
  const RunResult unknown = study({"compare", data(), "--models", "gat,dgta"});
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean dgat"));
  EXPECT_EQ(study({"compare", data(), "--models", "gat:gama=1"}).exit, 2);
}

TEST_F(StudyVerbs, AblationStartsAtGatBitForBit) {
  const RunResult ablation = study({"ablate", data(), "--out", out(), "--json", "--rewire", "add"});
  ASSERT_EQ(ablation.exit, 0) << ablation.err;
  const json rows = json::parse(ablation.out)["rows"];
  ASSERT_EQ(rows.size(), 7U);
  const RunResult gat =
      study({"compare", data(), "--models", "gat", "--out", out("gat"), "--json"});
  ASSERT_EQ(gat.exit, 0) << gat.err;
  const json plain = json::parse(gat.out)["rows"][0];
  EXPECT_EQ(rows[0]["name"], "gat");
  EXPECT_EQ(rows[0]["parameters"], plain["parameters"]);
  for (size_t s = 0; s < 3; ++s) {
    for (const char* key : {"best_step", "train", "val", "test"}) {
      EXPECT_EQ(rows[0]["splits"][s][key], plain["splits"][s][key]) << key;
    }
  }
  EXPECT_THAT(read_whole_file(out() + "/ablate.md"), HasSubstr("| dgat | ✓ | ✓ | ✓ |"));
  // The ledger knows the first row as gat: it is not trained again.
  const std::string ledger = read_whole_file(out() + "/ledger.jsonl");
  ASSERT_EQ(study({"compare", data(), "--models", "gat", "--out", out()}).exit, 0);
  EXPECT_EQ(read_whole_file(out() + "/ledger.jsonl"), ledger);
  EXPECT_EQ(study({"ablate", data(), "--model", "gat"}).exit, 2);
  EXPECT_EQ(study({"ablate", data(), "--rewire", "none"}).exit, 2);
}

TEST_F(StudyVerbs, ReproduceSaysWhatIsMissingAndStopsWithItsBudget) {
  const RunResult measures =
      run_dgat({"reproduce", "homophily", "--datasets", "questions", "--data-dir",
                folder_.path().string(), "--out", out("a"), "--json"});
  ASSERT_EQ(measures.exit, 0) << measures.err;
  EXPECT_THAT(json::parse(measures.out)["skipped"].dump(), HasSubstr("datasets fetch questions"));
  const RunResult synthetic = study({"reproduce", "synthetic", "--nodes", "100", "--datasets",
                                     "mixhop-0.1", "--budget", "0s", "--out", out("b"), "--json"});
  ASSERT_EQ(synthetic.exit, 0) << synthetic.err;
  EXPECT_EQ(json::parse(synthetic.out)["trials_left"], 12 * 5);
  const RunResult compare =
      study({"compare", data(), "--models", "gat,dgat", "--budget", "0s", "--out", out("e")});
  EXPECT_THAT(compare.out, HasSubstr("Test metric in percent")) << "nothing run that names it";
  EXPECT_EQ(run_dgat({"reproduce", "homophyly"}).exit, 2);
  EXPECT_EQ(run_dgat({"reproduce", "small", "--models", "gcn", "--out", out("c")}).exit, 2);
  EXPECT_EQ(run_dgat({"reproduce", "small", "--budget", "2", "--out", out("d")}).exit, 2);
}

TEST_F(StudyVerbs, ReproduceTrainsTheRowsOfATable) {
  std::filesystem::copy(data(), folder_ / "texas.npz");  // a stand-in under a known name
  std::ofstream(folder_ / "texas.yaml") << "gamma: 0.7\nrewire: none\nmodel: gat\n";
  const auto reproduce = [&](const std::string& table, std::vector<std::string> more) {
    std::vector<std::string> arguments = {
        "reproduce",  table,   "--data-dir", folder_.path().string(),
        "--datasets", "texas", "--tuned",    folder_.path().string(),
        "--splits",   "2",     "--out",      out(),
        "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const RunResult result = study(arguments);
    EXPECT_EQ(result.exit, 0) << result.err;
    return json::parse(result.out);
  };
  const json small = reproduce("small", {"--models", "gat,dgat"});
  const json rows = small["studies"][0]["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["published"]["mean"], 58.38);
  EXPECT_EQ(rows[1]["options"]["recipe"], "classic");
  EXPECT_EQ(rows[1]["options"]["gamma"], "0.7");
  EXPECT_FALSE(rows[0]["options"].contains("gamma") && rows[0]["options"]["gamma"] == "0.7");
  EXPECT_EQ(rows[1]["splits"].size(), 2U);
  EXPECT_TRUE(std::filesystem::exists(out() + "/small-2.csv"));
  const json ablation = reproduce("ablation-small", {});
  ASSERT_EQ(ablation["studies"][0]["rows"].size(), 7U);
  EXPECT_EQ(ablation["studies"][0]["rows"][6]["published"]["mean"], 79.46);
  EXPECT_FALSE(ablation["studies"][0]["rows"][6]["rewiring"].is_null());
}

TEST_F(StudyVerbs, ADgatInPartsStandsBesideThePublishedAblation) {
  std::filesystem::copy(data(), folder_ / "chameleon_filtered.npz");  // a stand-in
  const RunResult run =
      run_dgat({"compare", (folder_ / "chameleon_filtered.npz").string(), "--models",
                "gat,dgat,dgat:rewire=none,dgat:laplacian=default:directional=off,"
                "dgat:directional=off:rewire=none,dgat-sep:directional=off",
                "--budget", "0s", "--out", out(), "--json"});
  ASSERT_EQ(run.exit, 0) << run.err;
  const json rows = json::parse(run.out)["rows"];
  EXPECT_EQ(rows[0]["published"]["mean"], 39.21);
  EXPECT_EQ(rows[1]["published"]["mean"], 44.16);
  EXPECT_EQ(rows[2]["published"]["mean"], 44.16) << "DGAT on the graph that was chosen";
  EXPECT_EQ(rows[3]["published"]["mean"], 43.51) << "rewiring alone";
  EXPECT_TRUE(rows[4]["published"].is_null()) << "the paper has no such row";
  EXPECT_TRUE(rows[5]["published"].is_null());
}

TEST_F(StudyVerbs, TunedOptionsAreFoundUnderTheNameOfTheFileAndMissedAloud) {
  std::filesystem::copy(data(), folder_ / "chameleon_filtered.npz");  // a stand-in
  const auto reproduce = [&](const std::string& tuned) {
    return run_dgat({"reproduce",   "heterophily",
                     "--data-dir",  folder_.path().string(),
                     "--datasets",  "chameleon-filtered",
                     "--models",    "gat,dgat",
                     "--hidden",    "8",
                     "--heads",     "2",
                     "--steps",     "2",
                     "--layers",    "1..2",
                     "--choose-on", "1",
                     "--splits",    "2",
                     "--tuned",     tuned,
                     "--out",       out(),
                     "--json"});
  };
  std::filesystem::create_directories(folder_ / "tuned/chameleon_filtered");
  std::ofstream(folder_ / "tuned/chameleon_filtered/config.yaml") << "gamma: 0.7\nlayers: 4\n";
  const RunResult found = reproduce((folder_ / "tuned").string());
  ASSERT_EQ(found.exit, 0) << found.err;
  const json study = json::parse(found.out)["studies"][0];
  EXPECT_EQ(study["choose_on"], 1);
  EXPECT_EQ(study["rows"][1]["options"]["gamma"], "0.7");
  EXPECT_EQ(study["rows"][1]["choices"].size(), 2U) << "a flag wins";
  EXPECT_EQ(study["rows"][1]["splits"].size(), 2U);
  EXPECT_THAT(found.err, Not(HasSubstr("no options for")));
  EXPECT_THAT(reproduce((folder_ / "elsewhere").string()).err,
              HasSubstr("no options for chameleon-filtered"));
}

TEST_F(StudyVerbs, TableTunedHasPublishedOptionsAndSearchedOnes) {
  std::filesystem::copy(data(), folder_ / "chameleon_filtered.npz");  // a stand-in
  std::filesystem::create_directories(folder_ / "tuned/chameleon_filtered-dgat");
  std::ofstream(folder_ / "tuned/chameleon_filtered-dgat/config.yaml")
      << "model: dgat\nrecipe: deep\nrewire: hub\ngamma: 0.7\nlayers: 2\nhidden: 16\n";
  const RunResult run = run_dgat({"reproduce", "tuned", "--data-dir", folder_.path().string(),
                                  "--datasets", "chameleon-filtered", "--models", "gcn,dgat",
                                  "--steps", "2", "--splits", "1", "--hidden", "8", "--tuned",
                                  (folder_ / "tuned").string(), "--out", out(), "--json"});
  ASSERT_EQ(run.exit, 0) << run.err;
  const json rows = json::parse(run.out)["studies"][0]["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["published"]["mean"], 46.29);
  EXPECT_EQ(rows[0]["options"]["norm"], "none");
  EXPECT_EQ(rows[0]["options"]["lr"], "0.005");
  EXPECT_EQ(rows[0]["options"]["hidden"], "8") << "a flag wins";
  EXPECT_EQ(rows[1]["name"], "dgat, searched");
  EXPECT_EQ(rows[1]["options"]["rewire"], "hub");
  EXPECT_EQ(rows[1]["published"]["mean"], 44.16);
  EXPECT_EQ(run_dgat({"reproduce", "tuned", "--models", "gt", "--out", out("b")}).exit, 2);
}

TEST_F(StudyVerbs, ReproduceMeasuresAgreeWithThePaper) {
  if (shared_datasets().empty()) GTEST_SKIP() << kNoDatasets;
  for (const char* table : {"homophily", "statistics"}) {
    const RunResult result =
        run_dgat({"reproduce", table, "--datasets", "cornell,texas", "--data-dir",
                  shared_datasets().string(), "--out", out(), "--json"});
    ASSERT_EQ(result.exit, 0) << result.err;
    const json datasets = json::parse(result.out)["datasets"];
    ASSERT_EQ(datasets.size(), 2U);
    for (const json& dataset : datasets) {
      for (const json& check : dataset["checks"]) {
        EXPECT_EQ(check["found"], check["published"]) << table << dataset["dataset"];
      }
    }
  }
}

TEST_F(StudyVerbs, FlagsOfTrainingAreKnownToAll) {
  const RunResult run = run_dgat({"compare", data(), "--model", "gcn", "--resume", "--hidden", "8",
                                  "--layers", "1", "--steps", "2", "--out", out()});
  EXPECT_EQ(run.exit, 0) << run.err;
}

TEST_F(StudyVerbs, RowsDifferOnlyInWhatATrialCanChange) {
  for (const char* row :
       {"gat:directed=on", "gat:data=other.npz", "gat:splits=1", "gat:model=gcn"}) {
    const RunResult run = run_dgat({"compare", data(), "--models", row, "--out", out()});
    EXPECT_EQ(run.exit, 2) << row;
  }
  EXPECT_EQ(run_dgat({"ablate", data(), "--grid", "rewire=none/add", "--out", out()}).exit, 2);
}

TEST_F(StudyVerbs, RunsAndStudiesDoNotShareAFolder) {
  const std::vector<std::string> small = {"--hidden", "8", "--layers", "1", "--steps", "2"};
  const auto with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), small.begin(), small.end());
    return run_dgat(arguments);
  };
  ASSERT_EQ(with({"train", data(), "--model", "gcn", "--out", out("run")}).exit, 0);
  for (const char* verb : {"compare", "tune", "ablate"}) {
    EXPECT_THAT(with({verb, data(), "--out", out("run")}).err, HasSubstr("holds a run")) << verb;
  }
  ASSERT_EQ(with({"compare", data(), "--models", "gcn", "--out", out("study")}).exit, 0);
  EXPECT_THAT(with({"train", data(), "--model", "gcn", "--out", out("study")}).err,
              HasSubstr("holds the ledger"));
}

TEST_F(StudyVerbs, NothingThatCouldBeTrainedIsAFailure) {
  const RunResult run =
      run_dgat({"compare", data(), "--models", "gcn,sage", "--layers", "1", "--hidden", "8",
                "--steps", "2", "--metric", "roc_auc", "--out", out()});
  EXPECT_EQ(run.exit, 1);
  EXPECT_THAT(run.err, HasSubstr("two classes"));
}

TEST_F(StudyVerbs, ARivalThatWasNotRunIsNotBeaten) {
  const std::vector<std::string> command = {
      "reproduce", "synthetic", "--datasets", "mixhop-0.1,mixhop-0.5,mixhop-0.9",
      "--nodes",   "100",       "--splits",   "1",
      "--steps",   "1",         "--out",      out()};
  ASSERT_EQ(run_dgat(command).exit, 0);
  const std::string ledger = out() + "/ledger.jsonl", all = read_whole_file(ledger);
  std::ofstream(ledger) << [&] {
    std::string kept;
    for (size_t begin = 0; begin < all.size();) {
      const size_t end = all.find('\n', begin) + 1;
      const std::string line = all.substr(begin, end - begin);
      if (line.find("\"model\":\"gat\"") == std::string::npos) kept += line;
      begin = end;
    }
    return kept;
  }();
  std::vector<std::string> tables = command;
  tables.insert(tables.end(), {"--budget", "0s"});
  const RunResult run = run_dgat(tables);
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("not run"));
  EXPECT_EQ(run.out.find("at or above GAT and GATv2"), std::string::npos) << run.out;
}

}  // namespace
}  // namespace dgat::test
