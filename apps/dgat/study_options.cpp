#include "study_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/report/study_page.h"
#include "dgat/train/inputs.h"
#include "dgat/train/run_directory.h"
#include "table_output.h"

namespace dgat::app {

void add_study_options(CLI::App& verb, StudyFlags& flags, const std::string& default_out,
                       const std::vector<std::string>& left_out) {
  verb.add_option("--out", flags.out, "folder of the ledger and the tables; default " + default_out)
      ->type_name("DIR");
  verb.add_option("--budget", flags.budget,
                  "start no trial after this time (2h, 90m, 1h30m); 0s only makes the tables")
      ->type_name("TIME");
  verb.add_option("--choose-on", flags.choose_on,
                  "depths and candidates compete on the first N splits only, and the winner alone "
                  "is trained on the others; 0: on all splits")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000));
  add_resume(verb);
  add_training_options(verb, flags.training, flags.common, left_out);
  add_common_options(verb, flags.common);
}

study::TrialData load_trial_data(const std::string& data, const train::Settings& settings) {
  train::Settings request;
  for (const auto& [key, value] : settings) {
    const bool extra = key.starts_with(train::kOneExtra);
    if (!extra && train::find_option(key).affects_any(train::Affects::kData)) request[key] = value;
  }
  request["data"] = data;
  return study::trial_data(train::load_for(request));
}

study::EngineOptions engine_options(const StudyFlags& flags, const train::Settings& settings,
                                    const std::string& label, const std::filesystem::path& out) {
  study::EngineOptions options;
  options.label = label;
  options.keeper = study::keep_long_trials(out / "checkpoints");
  if (settings.contains("jobs")) options.jobs = std::stoll(settings.at("jobs"));
  if (!flags.budget.empty()) {
    const std::chrono::duration<double> budget(study::parse_duration(flags.budget));
    options.deadline = std::chrono::steady_clock::now() +
                       std::chrono::duration_cast<std::chrono::steady_clock::duration>(budget);
  }
  return options;
}

void refuse_run_folder(const std::filesystem::path& out) {
  if (!train::RunDirectory::is_run(out)) return;
  throw_input("{}: holds a run of `dgat train`; choose another --out", out.string());
}

std::filesystem::path study_folder(const StudyFlags& flags, const std::string& verb,
                                   const std::string& dataset) {
  if (!flags.out.empty()) return flags.out;
  return std::filesystem::path("runs") / (verb + "-" + dataset);
}

study::StudyResult run_plan(const study::Study& plan, const StudyFlags& flags,
                            const train::Settings& settings, const std::string& verb,
                            const std::filesystem::path& out) {
  refuse_run_folder(out);
  study::Ledger ledger(out / "ledger.jsonl");
  spectral::SpectralCache cache(spectral::default_cache_folder());
  study::InputStore inputs(cache);
  study::StudyOptions how;
  how.engine = engine_options(flags, settings, verb, out);
  how.folds_first = how.engine.deadline.has_value();
  how.choose_on = flags.choose_on;
  return study::run_studies({&plan, 1}, ledger, inputs, how).front();
}

void publish(const study::Comparison& comparison, const StudyFlags& flags, const std::string& verb,
             const std::filesystem::path& out) {
  const study::Table table = study::comparison_table(comparison);
  const std::string json = study::to_json(comparison);
  study::write_tables(out, verb, {table}, json);
  report::write_study_page(out);
  if (flags.common.json) {
    fmt::print("{}", json);
  } else {
    fmt::print("{}written to {}\n", on_screen(table), out.string());
  }
  const auto& rows = comparison.study.rows;
  const bool all_failed = !rows.empty() && std::ranges::all_of(rows, [](const auto& row) {
    return !row.finished() && !row.failure.empty();
  });
  if (all_failed) throw_compute("{}: no row could be trained: {}", verb, rows.front().failure);
}

void resumable(const std::function<void()>& work) {
  try {
    work();
  } catch (const Interrupted& error) {
    throw Interrupted(fmt::format(
        "{}; finished trials are kept: the same command continues, and with --budget 0s it only "
        "shows their tables",
        error.what()));
  }
}

}  // namespace dgat::app
