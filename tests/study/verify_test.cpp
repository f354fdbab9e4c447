#include "dgat/study/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/data/npz_dataset.h"
#include "dgat/study/run.h"
#include "support/small_run.h"
#include "support/temp_dir.h"

namespace dgat::study {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// A finished run on a data set in a file.
class VerifyRun : public testing::Test {
 protected:
  void SetUp() override { train({}); }

  void train(const train::Settings& more) {
    const fs::path file = temp_ / "data.npz";
    data::write_npz(test::small_dataset(), file);
    train::Settings settings = test::small_settings();
    settings["data"] = file.string();
    for (const auto& [key, value] : more) settings[key] = value;
    const train::Config config = train::resolve(settings);
    fs::remove_all(run_);
    const train::RunDirectory directory(run_, train::Existing::kRefuse, /*tensorboard=*/true);
    run_training(trial_data(train::load_for(settings)), config, cache_, &directory);
  }

  std::vector<std::string> problems(bool predict = true) {
    return verify_run(run_, cache_, predict).problems;
  }
  std::string text(const std::string& name) const { return read_whole_file(run_ / name); }
  void put(const std::string& name, const std::string& text) const {
    write_atomically(run_ / name, [&](std::ostream& out) { out << text; });
  }
  /// Changes the first occurrence.
  void change(const std::string& name, const std::string& from, const std::string& to) const {
    std::string changed = text(name);
    const size_t at = changed.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    put(name, changed.replace(at, from.size(), to));
  }
  void change_summary(const std::function<void(nlohmann::ordered_json&)>& edit) const {
    auto json = nlohmann::ordered_json::parse(text("summary.json"));
    edit(json);
    put("summary.json", json.dump());
  }

  test::TempDir temp_;
  fs::path run_ = temp_ / "run";
  spectral::SpectralCache cache_;
};

TEST_F(VerifyRun, AFinishedRunIsSound) {
  const Verification found = verify_run(run_, cache_);
  EXPECT_THAT(found.problems, IsEmpty());
  EXPECT_TRUE(found.finished);
  EXPECT_TRUE(found.predicted);
  EXPECT_EQ(found.files, 7);  // config, summary, log, two weights, two event files
}

TEST_F(VerifyRun, EveryFlippedBitOfTheWeightsIsFound) {
  const std::string whole = text("split-0.safetensors");
  for (size_t at = 0; at < whole.size(); at += 97) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    put("split-0.safetensors", damaged);
    EXPECT_THAT(problems(false), ElementsAre(StartsWith("split-0.safetensors: "))) << at;
  }
}

TEST_F(VerifyRun, AMissingFileIsNamed) {
  for (const char* name : {"config.yaml", "log.jsonl", "split-1.safetensors"}) {
    const std::string whole = text(name);
    fs::remove(run_ / name);
    EXPECT_THAT(problems(false), ElementsAre(StartsWith(std::string(name) + ": "))) << name;
    put(name, whole);
  }
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(VerifyRun, NumbersThatDoNotAgreeAreFound) {
  const std::string whole = text("summary.json");
  change_summary([](auto& json) { json["test_mean"] = 0.123; });
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("summary.json: key 'test_mean' is not that")));
  put("summary.json", whole);
  change_summary([](auto& json) { json["splits"][0]["best_step"] = 5000; });
  EXPECT_THAT(problems(), testing::Contains(HasSubstr("log.jsonl: has no evaluation of split 0")));
  put("summary.json", whole);
  change_summary([](auto& json) { json["options"]["hidden"] = 8; });
  EXPECT_THAT(problems(), ElementsAre("summary.json: option hidden is 8, and 16 in config.yaml"));
  put("summary.json", whole);
  change_summary([](auto& json) { json["splits"][0]["val"] = 2; });
  EXPECT_THAT(problems(), testing::Contains(HasSubstr("outside [0, 1]")));
  put("summary.json", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(problems(), ElementsAre("summary.json: is not a JSON object"));
}

TEST_F(VerifyRun, AWrongTypeInTheLogIsALineOfTheReport) {
  change("log.jsonl", "\"step\":1,", "\"step\":[],");
  EXPECT_THAT(problems(), ElementsAre("log.jsonl: line 1 is not an evaluation"));
  put("log.jsonl", std::string(300'000, '[') + "\n");
  EXPECT_THAT(problems(), ElementsAre("log.jsonl: line 1 is not an evaluation"));
}

TEST_F(VerifyRun, OtherDataAreNoticedByThePredictions) {
  data::write_npz(test::small_dataset(3, 2, 99), temp_ / "data.npz");
  EXPECT_THAT(problems(), testing::Contains(HasSubstr("predicts with ")));
  EXPECT_THAT(problems(false), IsEmpty());
  fs::remove(temp_ / "data.npz");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("the networks cannot be run: ")));
}

TEST_F(VerifyRun, WeightsOfAnotherSplitAreNoticed) {
  put("split-0.safetensors", text("split-1.safetensors"));
  EXPECT_THAT(problems(false), ElementsAre("split-0.safetensors: holds the weights of split 1"));
}

TEST_F(VerifyRun, EventFilesHaveChecksums) {
  const std::string name = "tensorboard/layers-1-split-0/events.out.tfevents.dgat";
  std::string damaged = text(name);
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  put(name, damaged);
  EXPECT_THAT(problems(false), ElementsAre(StartsWith(name + ": ")));
}

TEST_F(VerifyRun, ADepthChosenFromARangeIsSound) {
  train({{"layers", "1..2"}, {"model", "gat"}});
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(VerifyRun, AnUnfinishedRunIsJudgedByItsCheckpoints) {
  fs::remove(run_ / "summary.json");
  fs::create_directories(run_ / "checkpoints");
  put("checkpoints/layers-1-split-0.safetensors", text("split-0.safetensors"));
  const Verification found = verify_run(run_, cache_);
  EXPECT_THAT(found.problems, IsEmpty());
  EXPECT_FALSE(found.finished);
  put("checkpoints/layers-1-split-0.safetensors", text("split-0.safetensors").substr(0, 500));
  EXPECT_THAT(problems(), ElementsAre(StartsWith("checkpoints/layers-1-split-0.safetensors: ")));
}

TEST_F(VerifyRun, AFolderWithoutARunIsAnInputError) {
  EXPECT_THROW(verify_run(temp_ / "nothing", cache_), InputError);
  fs::create_directories(temp_ / "empty");
  EXPECT_THROW(verify_run(temp_ / "empty", cache_), InputError);
}

}  // namespace
}  // namespace dgat::study
