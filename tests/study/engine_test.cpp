#include "dgat/study/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/interrupt.h"
#include "small_study.h"
#include "support/temp_dir.h"

namespace dgat::study {
namespace {
using test::TempDir;

std::vector<Trial> three_trials(const std::string& steps = "8") {
  const TrialData data = test::small_data(3);
  const auto options = test::small_options({{"steps", steps}});
  return {{data, options, 1, 0}, {data, options, 1, 1}, {data, options, 1, 2}};
}

std::vector<TrialOutcome> run(const std::vector<Trial>& trials, Ledger& ledger,
                              const EngineOptions& options = {}) {
  spectral::SpectralCache cache;
  InputStore inputs(cache);
  return run_trials(trials, ledger, inputs, options);
}

/// Two ledgers of one file are what two processes have.
TEST(RunTrials, TwoProcessesShareTheWork) {
  const TempDir temp;
  const auto path = temp / "ledger.jsonl";
  const std::vector<Trial> trials = three_trials("200");
  Ledger a(path), b(path);
  std::vector<TrialOutcome> of_b;
  std::thread other([&] { of_b = run(trials, b); });
  const std::vector<TrialOutcome> of_a = run(trials, a);
  other.join();
  const std::string lines = read_whole_file(path);
  EXPECT_EQ(std::ranges::count(lines, '\n'), 3) << "a trial was trained twice";
  for (size_t t = 0; t < trials.size(); ++t) {
    ASSERT_TRUE(of_a[t].result && of_b[t].result);
    EXPECT_EQ(of_a[t].result->val, of_b[t].result->val);
  }
}

TEST(RunTrials, WhatAnotherProcessGaveUpIsRunAfterTheOthers) {
  const TempDir temp;
  const std::vector<Trial> trials = three_trials();
  Ledger other(temp / "ledger.jsonl"), ledger(temp / "ledger.jsonl");
  std::optional<Claim> claim = other.claim(trial_key(trials[0]));
  std::thread gives_up([&] {
    while (ledger.size() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    claim.reset();
  });
  const std::vector<TrialOutcome> outcomes = run(trials, ledger);
  gives_up.join();
  for (const TrialOutcome& outcome : outcomes) EXPECT_TRUE(outcome.result);
  const std::string lines = read_whole_file(temp / "ledger.jsonl");
  EXPECT_GT(lines.find(trial_key(trials[0])), lines.find(trial_key(trials[2])));
}

TEST(RunTrials, WaitingEndsWithTheBudgetAndWithCtrlC) {
  const TempDir temp;
  const std::vector<Trial> trials = three_trials();
  Ledger other(temp / "ledger.jsonl"), ledger(temp / "ledger.jsonl");
  const std::optional<Claim> claim = other.claim(trial_key(trials[1]));
  run({trials[0], trials[2]}, ledger);
  EngineOptions options;
  options.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(150);
  const std::vector<TrialOutcome> outcomes = run(trials, ledger, options);
  EXPECT_TRUE(outcomes[0].result);
  EXPECT_FALSE(outcomes[1].result);
  EXPECT_EQ(outcomes[1].failure, "");
  EXPECT_TRUE(outcomes[2].result);
  request_interrupt();
  EXPECT_THROW(run(trials, ledger), Interrupted);
  request_interrupt(false);
}

}  // namespace
}  // namespace dgat::study
