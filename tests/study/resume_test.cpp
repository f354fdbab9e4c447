#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/random.h"
#include "dgat/data/fingerprint.h"
#include "dgat/study/run.h"
#include "dgat/train/safetensors.h"
#include "support/small_run.h"
#include "support/temp_dir.h"

namespace dgat::study {
namespace {
using namespace train;
using test::TempDir;
using testing::HasSubstr;
namespace fs = std::filesystem;

const Settings kSettings = {
    {"steps", "25"}, {"checkpoint_every", "4"}, {"dropout", "0.3"}, {"weight_decay", "0.01"}};

Run run_in(const fs::path& path, Existing existing, const Settings& more = kSettings) {
  const RunDirectory directory(path, existing);
  spectral::SpectralCache cache;
  return run_training(trial_data(test::small_dataset()), test::small_config("dgat", more), cache,
                      &directory);
}

TEST(Resume, AnInterruptedRunContinuesToTheSameBits) {
  const TempDir temp;
  const study::Run whole = run_in(temp / "whole", Existing::kRefuse);
  const std::string expected = read_whole_file(temp / "whole" / "split-1.safetensors");

  const test::SmallTask small(test::small_config("dgat", kSettings), test::small_dataset(), 1);
  const SplitTask& task = small.task;
  Random random(5);
  for (const bool clean : {true, false}) {  // Ctrl-C, and a kill that saves nothing
    const auto stop = static_cast<int64_t>(1 + random.below(24));
    const fs::path checkpoint = temp / (clean ? "clean.safetensors" : "killed.safetensors");
    TrainHooks hooks;
    hooks.checkpoint = checkpoint;
    hooks.on_evaluation = [&](const StepRecord& r) {
      if (r.step != stop) return;
      if (!clean) throw std::runtime_error("killed");
      request_interrupt();
    };
    const auto first = make_task_model(task);
    if (clean) {
      EXPECT_THROW(train_split(task, *first, hooks), Interrupted);
      request_interrupt(false);
    } else {
      EXPECT_THROW(train_split(task, *first, hooks), std::runtime_error);
    }
    hooks.on_evaluation = nullptr;
    const auto second = make_task_model(task);
    const SplitResult result = train_split(task, *second, hooks);
    EXPECT_EQ(result.best.step, whole.row.splits[1].best_step);
    EXPECT_EQ(result.best.val, whole.row.splits[1].val);
    const SafeTensors file = parse_safetensors(expected, "whole");
    for (const auto& entry : second->parameters().entries()) {
      EXPECT_EQ(nn::file_values(entry.parameter, entry.parameter.value),
                file.find(entry.parameter.name)->values)
          << entry.parameter.name << " after a stop at " << stop;
    }
  }
}

TEST(Resume, ARunKilledBetweenSplitsLeavesOneCompleteLog) {
  const TempDir temp;
  run_in(temp / "whole", Existing::kRefuse);
  // Split 0 finished, split 1 stopped: make that state by hand from a run of one split.
  const fs::path path = temp / "part";
  {
    const RunDirectory directory(path, Existing::kRefuse);
    fs::create_directories(path / "checkpoints");
    const data::Dataset dataset = test::small_dataset();
    const Config config = test::small_config("dgat", kSettings);
    spectral::SpectralCache cache;
    InputBuilder builder(dataset, config, cache);
    RunLog log(directory);
    for (const int64_t split : {0, 1}) {
      const auto input = builder.for_split(split);
      const SplitTask task{config, dataset, input, split, 1};
      TrainHooks hooks;
      hooks.checkpoint = directory.checkpoint(1, split);
      hooks.data = data::fingerprint(dataset) + " " +
                   data::fingerprint(dataset.splits[static_cast<size_t>(split)]);
      hooks.before_checkpoint = [&] { log.flush(); };
      hooks.on_evaluation = [&](const StepRecord& r) {
        log.write(1, split, r);
        if (split == 1 && r.step == 11) throw std::runtime_error("killed");
      };
      const auto model = make_task_model(task);
      if (split == 0) {
        train_split(task, *model, hooks);
      } else {
        EXPECT_THROW(train_split(task, *model, hooks), std::runtime_error);
      }
    }
    write_atomically(directory.config(), [&](std::ostream& out) { out << to_yaml(config); });
  }
  EXPECT_EQ(test::count_lines(path / "log.jsonl"), 25U + 11U);
  run_in(path, Existing::kResume);
  EXPECT_EQ(read_whole_file(path / "log.jsonl"), read_whole_file(temp / "whole" / "log.jsonl"));
  for (const char* name : {"split-0.safetensors", "split-1.safetensors"}) {
    EXPECT_EQ(read_whole_file(path / name), read_whole_file(temp / "whole" / name)) << name;
  }
  EXPECT_FALSE(fs::exists(path / "checkpoints"));
}

TEST(Resume, ARunIsNeverReplacedSilently) {
  const TempDir temp;
  run_in(temp / "run", Existing::kRefuse);
  try {
    run_in(temp / "run", Existing::kRefuse);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--resume"));
    EXPECT_THAT(error.what(), HasSubstr("--overwrite"));
  }
  std::ofstream(temp / "run" / "notes.txt") << "mine";
  run_in(temp / "run", Existing::kOverwrite);
  EXPECT_TRUE(fs::exists(temp / "run" / "notes.txt")) << "only files of the run are removed";
}

TEST(Resume, CheckpointsOfOtherOptionsAreRefused) {
  const TempDir temp;
  const auto train_with = [&](const char* lr) {
    const test::SmallTask small(test::small_config("gat", {{"lr", lr}}));
    TrainHooks hooks;
    hooks.checkpoint = temp / "state.safetensors";
    const auto model = make_task_model(small.task);
    train_split(small.task, *model, hooks);
  };
  train_with("0.01");
  train_with("0.01");  // finished: nothing to do
  try {
    train_with("0.02");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("other options"));
  }
}

TEST(Resume, OtherDataIsNotContinuedOn) {
  const TempDir temp;
  const data::Dataset before = test::small_dataset();
  data::Dataset labels = before, split = before;
  labels.labels[0] = (labels.labels[0] + 1) % 3;
  std::swap(split.splits[0].train.front(), split.splits[0].test.front());
  const auto train_on = [&](const data::Dataset& dataset, const char* folder,
                            const char* path = "before.npz") {
    const RunDirectory directory(temp / folder, Existing::kResume);
    spectral::SpectralCache cache;
    const Config here = test::small_config("gat", {{"data", path}});
    return run_training(trial_data(dataset), here, cache, &directory);
  };
  for (const data::Dataset* other : {&labels, &split}) {
    const char* folder = other == &labels ? "labels" : "split";
    train_on(before, folder);
    // A finished run has no checkpoints; an unfinished one keeps those of its finished splits.
    fs::create_directories(temp / folder / "checkpoints");
    {
      const test::SmallTask small(test::small_config("gat"), before);
      TrainHooks hooks;
      hooks.checkpoint = temp / folder / "checkpoints" / "layers-1-split-0.safetensors";
      hooks.data = data::fingerprint(before) + " " + data::fingerprint(before.splits[0]);
      const auto model = make_task_model(small.task);
      train_split(small.task, *model, hooks);
    }
    EXPECT_THROW(train_on(*other, folder, "other.npz"), InputError) << folder;
    EXPECT_THAT(read_whole_file(temp / folder / "config.yaml"), HasSubstr("before.npz"));
    EXPECT_NO_THROW(train_on(before, folder, "moved.npz")) << folder;
    EXPECT_THAT(read_whole_file(temp / folder / "config.yaml"), HasSubstr("moved.npz"));
  }
}

TEST(Resume, ADamagedCheckpointThatIsOptionalIsStartedAgain) {
  const TempDir temp;
  const test::SmallTask small(test::small_config("gat"));
  TrainHooks hooks;
  hooks.checkpoint = temp / "checkpoint.safetensors";
  const auto train = [&] {
    const auto model = make_task_model(small.task);
    return train_split(small.task, *model, hooks);
  };
  const SplitResult whole = train();
  fs::resize_file(hooks.checkpoint, fs::file_size(hooks.checkpoint) / 2);
  EXPECT_THROW(train(), InputError);
  hooks.checkpoint_is_optional = true;
  const SplitResult again = train();
  EXPECT_EQ(again.steps, whole.steps);
  EXPECT_EQ(again.best.val, whole.best.val);
  EXPECT_EQ(again.best.loss, whole.best.loss);
  hooks.checkpoint = temp / "no such folder" / "checkpoint.safetensors";
  EXPECT_EQ(train().best.loss, whole.best.loss) << "what cannot be written is done without";
}

TEST(RunDirectory, IsOfOneProcessAndLeavesForeignFilesAlone) {
  const TempDir temp;
  fs::create_directories(temp / "run" / "checkpoints");
  std::ofstream(temp / "run" / "checkpoints" / "mine.pt") << "mine";
  {
    const RunDirectory directory(temp / "run", Existing::kRefuse);
    EXPECT_THROW(RunDirectory(temp / "run", Existing::kResume), InputError) << "locked";
    directory.begin();
    directory.remove_checkpoints();
  }
  EXPECT_TRUE(fs::exists(temp / "run" / "checkpoints" / "mine.pt"));
  EXPECT_NO_THROW(RunDirectory(temp / "run", Existing::kResume)) << "the lock is gone";
  std::ofstream(temp / "run" / "ledger.jsonl") << "{}";
  EXPECT_THROW(RunDirectory(temp / "run", Existing::kOverwrite), InputError) << "a study";
}

TEST(RunDirectory, ReplacesARunOnlyWhenTheNewOneBegins) {
  const TempDir temp;
  run_in(temp / "run", Existing::kRefuse);
  spectral::SpectralCache cache;
  Config impossible = test::small_config("gat", {{"metric", "roc_auc"}});
  {
    const RunDirectory directory(temp / "run", Existing::kOverwrite);
    EXPECT_THROW(run_training(trial_data(test::small_dataset()), impossible, cache, &directory),
                 InputError);
  }
  EXPECT_TRUE(fs::exists(temp / "run" / "summary.json"));
  EXPECT_TRUE(fs::exists(temp / "run" / "split-0.safetensors"));
}

}  // namespace
}  // namespace dgat::study
