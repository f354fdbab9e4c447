#include "dgat/study/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/study/rows.h"
#include "dgat/study/run.h"
#include "small_study.h"
#include "support/temp_dir.h"

namespace dgat::study {
namespace {
using test::small_row;
using test::TempDir;
using testing::HasSubstr;

StudyResult run(const Study& study, Ledger& ledger, const StudyOptions& options = {}) {
  spectral::SpectralCache cache;
  InputStore inputs(cache);
  return run_studies({&study, 1}, ledger, inputs, options).front();
}

/// Every number that must not depend on how the study was run.
std::vector<double> numbers(const StudyResult& result) {
  std::vector<double> all;
  for (const RowResult& row : result.rows) {
    all.push_back(static_cast<double>(row.chosen));
    for (const TrialResult& r : row.splits) {
      all.insert(all.end(), {static_cast<double>(r.best_step), r.train, r.val, r.test});
      if (r.rewiring) all.push_back(r.rewiring->homophily_before);
    }
  }
  return all;
}

Study two_rows() {
  return study_on(test::small_data(),
                  {small_row("gat", {{"model", "gat"}, {"layers", "1..2"}}), small_row("dgat")});
}

TEST(Study, ChoosesDepthAsATrainingRunDoes) {
  const Study study = two_rows();
  Ledger ledger;
  const StudyResult result = run(study, ledger);
  ASSERT_EQ(result.rows.size(), 2U);
  for (size_t r = 0; r < 2; ++r) {
    spectral::SpectralCache cache;
    const RowResult alone =
        run_training(study.folds[0].data, *study.rows[r].candidates[0], cache).row;
    EXPECT_EQ(result.rows[r].choice().layers, alone.choice().layers);
    EXPECT_EQ(result.rows[r].test.mean, alone.test.mean);
    EXPECT_EQ(result.rows[r].test.std, alone.test.std);
    EXPECT_EQ(result.rows[r].val.mean, alone.val.mean);
  }
  EXPECT_EQ(result.metric, "accuracy");
  EXPECT_NEAR(result.test_to_train, 1.0 / 3, 1e-9);
  EXPECT_EQ(ledger.size(), 9U);
}

TEST(Study, JobsAndOrderDoNotChangeTheNumbers) {
  const Study study = two_rows();
  Ledger one, two;
  StudyOptions options;
  options.engine.jobs = 1;
  const StudyResult a = run(study, one, options);
  options.engine.jobs = 2;
  options.folds_first = true;
  const StudyResult b = run(study, two, options);
  EXPECT_EQ(numbers(a), numbers(b));
  EXPECT_EQ(a.side_by_side, 1);
  EXPECT_EQ(b.side_by_side, 2);
}

TEST(Study, FinishedTrialsAreNotRepeatedAndTheTableIsTheSame) {
  const TempDir temp;
  const Study study = two_rows();
  StudyOptions none;
  none.engine.deadline = std::chrono::steady_clock::now();
  std::vector<double> whole;
  {
    Ledger ledger(temp / "whole.jsonl");
    EXPECT_EQ(run(study, ledger, none).trials_left(), 9) << "no trial starts after the deadline";
    whole = numbers(run(study, ledger));
  }
  Ledger finished(temp / "whole.jsonl");
  const StudyResult again = run(study, finished, none);
  EXPECT_EQ(again.trials_left(), 0);
  EXPECT_EQ(numbers(again), whole);
  // Interrupted in the middle: what was finished stays.
  Ledger ledger(temp / "cut.jsonl");
  size_t added = 0;
  for (const TrialResult& r : finished.results()) {
    if (++added <= 4) ledger.add(r);
  }
  request_interrupt();
  EXPECT_THROW(run(study, ledger), Interrupted);
  request_interrupt(false);
  EXPECT_EQ(numbers(run(study, ledger)), whole);
}

TEST(Study, AFailingRowSaysWhyAndTheRestGoesOn) {
  Study study = two_rows();
  study.rows.insert(study.rows.begin(),
                    small_row("wild", {{"metric", "roc_auc"}, {"layers", "1..2"}}));
  study.rows.push_back({"impossible", {}, "there is no such thing"});
  Ledger ledger;
  const StudyResult result = run(study, ledger);
  EXPECT_THAT(result.rows[0].failure, HasSubstr("roc_auc needs two classes"));
  EXPECT_FALSE(result.rows[0].finished());
  EXPECT_TRUE(result.rows[1].finished());
  EXPECT_EQ(result.rows[3].failure, "there is no such thing");
  EXPECT_EQ(result.trials_left(), 0);
}

TEST(Rows, AGridGivesCandidatesWhereItHasAnEffect) {
  const train::Grid grid = {{"gamma", {"0.1", "0.3"}}, {"lr", {"0.01", "0.1", "1"}}};
  const auto rows = rows_of("gat,dgat,dgat:lr=0.5", {}, "", grid);
  EXPECT_EQ(rows[0].candidates.size(), 3U) << "gat has no gamma";
  EXPECT_EQ(rows[1].candidates.size(), 6U);
  EXPECT_EQ(rows[2].candidates.size(), 2U) << "the row has its own rate";
  EXPECT_EQ(rows[1].name, "dgat");
  EXPECT_THROW(rows_of("gat", {}, "", {{"splits", {"1", "2"}}}), InputError);
  EXPECT_THROW(rows_of("gat", {}, "", {{"model", {"gat", "gcn"}}}), InputError);
}

TEST(Rows, AnOptionThatHasNoEffectOnItsRowIsRefused) {
  const auto failure = [](const char* row) { return row_of(row, {{"gamma", "0.7"}}, "").failure; };
  EXPECT_EQ(failure("gat:gamma=0.3"), "gat has no directions; leave out gamma=0.3");
  EXPECT_THAT(failure("dgn:gamma=0.1/0.3"), HasSubstr("has no gamma; leave out gamma=0.1"));
  EXPECT_THAT(failure("dgat:laplacian=default:alpha=0"), HasSubstr("has no alpha"));
  for (const char* row : {"gat", "gat:rewire=none", "pgcn:gamma=0.1", "dgat:alpha=0"}) {
    EXPECT_EQ(failure(row), "") << row;
  }
  EXPECT_EQ(row_of("dgn:laplacian=tuned:gamma=0.1/0.3", {}, "").candidates.size(), 2U);
}

TEST(Study, ChoosesOnTheFirstFoldsAndRunsTheWinnerOnTheOthers) {
  const Study study = two_rows();  // depths 1..2 and one depth, three splits each
  Ledger every;
  const StudyResult full = run(study, every);
  StudyOptions options;
  options.choose_on = 1;
  Ledger ledger;
  const StudyResult result = run(study, ledger, options);
  EXPECT_EQ(ledger.size(), 2U + 2U + 3U) << "two depths on one split, a winner on two; one depth";
  EXPECT_EQ(result.trials_left(), 0);
  EXPECT_EQ(result.choosing, 1U);
  EXPECT_EQ(chosen_by(result), "mean validation over the first split");
  EXPECT_EQ(chosen_by(full), "mean validation");
  const RowResult& row = result.rows[0];
  EXPECT_EQ(row.folds, (std::vector<size_t>{0, 1, 2}));
  for (const Choice& choice : row.choices) {
    const TrialResult& first = row.splits[0];
    EXPECT_LE(choice.val.mean, first.val) << "the winner of the first split";
  }
  for (const TrialResult& r : row.splits) {  // the same trials as in the full study
    EXPECT_EQ(every.find(r.key)->test, r.test);
    EXPECT_EQ(r.layers, row.choice().layers);
  }
  options.choose_on = 9;  // more than there are: all
  EXPECT_EQ(numbers(run(study, every, options)), numbers(full));
}

TEST(Study, NoWinnerIsRunBeforeTheChoiceIsMade) {
  const Study study = two_rows();
  StudyOptions options;
  options.choose_on = 2;
  Ledger finished;
  const StudyResult whole = run(study, finished, options);
  Ledger cut;  // split 0 of the first row at both depths, split 1 only at the first
  for (const TrialResult& r : finished.results()) {
    if (r.model == "gat" && (r.split == 0 || (r.split == 1 && r.layers == 1))) cut.add(r);
  }
  options.engine.deadline = std::chrono::steady_clock::now();
  const StudyResult half = run(study, cut, options);
  EXPECT_EQ(half.rows[0].trials, 5);
  EXPECT_EQ(half.rows[0].trials_left, 2) << "one to choose by, one for the winner";
  EXPECT_EQ(half.rows[0].folds, (std::vector<size_t>{0}));
  EXPECT_EQ(half.rows[1].trials_left, 3);
  options.engine.deadline.reset();
  EXPECT_EQ(numbers(run(study, cut, options)), numbers(whole));
}

TEST(Study, CandidatesAreChosenByValidation) {
  const Study study =
      study_on(test::small_data(),
               {{"dgat",
                 {test::small_options({{"lr", "1e-9"}}), test::small_options({{"steps", "30"}})},
                 ""}});
  Ledger ledger;
  const RowResult row = run(study, ledger).rows[0];
  ASSERT_EQ(row.choices.size(), 2U);
  EXPECT_GT(row.choices[1].val.mean, row.choices[0].val.mean);
  EXPECT_EQ(row.chosen, 1U);
  EXPECT_EQ(row.config->steps, 30);
}

TEST(Duration, ReadsHoursMinutesAndSeconds) {
  EXPECT_THROW(parse_duration("3000000h"), InputError) << "more than a clock counts";
  EXPECT_EQ(parse_duration("2h"), 7200);
  EXPECT_EQ(parse_duration("1h30m"), 5400);
  EXPECT_EQ(parse_duration("0s"), 0);
  EXPECT_EQ(parse_duration("1.5m"), 90);
  for (const char* bad : {"", "2", "h", "2x", "-1h", "2h3"}) {
    EXPECT_THROW(parse_duration(bad), InputError) << bad;
  }
}

TEST(Study, AFailureAfterTheChoiceDoesNotChangeIt) {
  const TrialData whole = test::small_data();
  data::Dataset broken = *whole.dataset;
  broken.splits[2].val.clear();  // cannot be measured
  Study study = study_on(trial_data(std::move(broken)),
                         {small_row("gat", {{"model", "gat"}, {"layers", "1..2"}})});
  StudyOptions options;
  options.choose_on = 1;
  Ledger ledger;
  const RowResult row = run(study, ledger, options).rows[0];
  const size_t better = row.choices[1].val.mean > row.choices[0].val.mean ? 1 : 0;
  EXPECT_EQ(row.chosen, better);
  EXPECT_EQ(row.folds, (std::vector<size_t>{0, 1})) << "what the winner could be trained on";
  EXPECT_EQ(row.trials_left, 0);
  EXPECT_THAT(row.choice().failure, HasSubstr("split 2"));
}

TEST(Study, TheBestRowIsBestWhereAllHaveFinished) {
  const auto row = [](std::vector<double> test) {
    RowResult r;
    for (size_t f = 0; f < test.size(); ++f) {
      TrialResult trial;
      trial.test = test[f];
      r.folds.push_back(f);
      r.splits.push_back(trial);
      r.test.mean += test[f] / static_cast<double>(test.size());
    }
    return r;
  };
  StudyResult study;
  study.folds = 3;
  EXPECT_FALSE(study.best_row().has_value());
  study.rows = {row({0.8, 0.4, 0.5}), row({0.7}), row({})};
  ASSERT_GT(study.rows[1].test.mean, study.rows[0].test.mean) << "on an easy fold";
  EXPECT_EQ(study.best_row(), 0U);
}

TEST(Study, TheMemoryOfAModelDoesNotHangOnTheOthers) {
  // What either stores fits into the budget, what both store does not.
  const train::Settings tight = {{"memory_budget", "0.0001"}};
  const auto failures = [&](std::vector<std::string> models) {
    std::vector<Row> rows;
    for (const std::string& model : models) {
      train::Settings settings = tight;
      settings["model"] = model;
      rows.push_back(small_row(model, settings));
    }
    Ledger ledger;
    StudyOptions options;
    options.engine.jobs = 1;
    std::map<std::string, bool> failed;
    for (const RowResult& row : run(study_on(test::small_data(), rows), ledger, options).rows) {
      failed[row.name] = !row.finished();
    }
    return failed;
  };
  const auto ab = failures({"h2gcn", "fsgnn"}), ba = failures({"fsgnn", "h2gcn"});
  EXPECT_EQ(ab, ba);
  EXPECT_FALSE(ab.at("h2gcn"));
  EXPECT_FALSE(ab.at("fsgnn"));
}

}  // namespace
}  // namespace dgat::study
