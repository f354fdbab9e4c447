// dgat train: train and evaluate a model over the splits of a data set.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "../table_output.h"
#include "../training_options.h"
#include "../verbs.h"
#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/progress.h"
#include "dgat/core/shell.h"
#include "dgat/dist/communicator.h"
#include "dgat/nn/registry.h"
#include "dgat/report/run_page.h"
#include "dgat/report/run_record.h"
#include "dgat/study/memory_plan.h"
#include "dgat/study/run.h"
#include "dgat/study/table.h"
#include "dgat/tensor/spill.h"
#include "dgat/train/diverged.h"
#include "dgat/train/option_table.h"
#include "dgat/train/trainer.h"

namespace dgat::app {
namespace {
namespace fs = std::filesystem;

struct Train {
  CommonOptions common;
  TrainingOptions training;
  std::string data, out, log = "jsonl";
  bool resume = false, overwrite = false, estimate = false;
};

/// The options of the run to continue. What is given now must agree with them, unless it does not
/// change results.
train::Settings resumed_settings(const Train& options, const fs::path& config) {
  const train::Settings settings = train::with_single_extras(train::read_settings(config));
  train::Settings flags = given_settings(options.training);
  make_paths_absolute(flags);
  train::Settings given = train::flags_over_file(settings, flags);
  const train::Config before = train::resolve(settings), now = train::resolve(given);
  for (const train::OptionInfo& info : train::config_options()) {
    if (info.changes_result && info.get(before) != info.get(now)) {
      throw_input("train: {} {} differs from {} in {}; a resumed run keeps its options",
                  flag_of(info.key), info.get(now), info.get(before), config.string());
    }
  }
  return given;
}

/// Of one split the mean alone, which has no spread.
std::string percent(const train::MeanStd& m, size_t splits) {
  using train::percent;
  return splits == 1 ? percent(m.mean) : fmt::format("{} ± {}", percent(m.mean), percent(m.std));
}

/// A validation metric that cannot rise keeps the network of the first evaluation.
void say_where_nothing_was_chosen(const study::Run& run) {
  const data::Dataset& dataset = *run.inputs.data.dataset;
  std::string splits, metric;
  size_t nodes = 0;
  for (const study::TrialResult& s : run.row.splits) {
    if (s.val < 1 || s.best_step > run.inputs.config->eval_every) continue;
    const size_t count = dataset.splits[static_cast<size_t>(s.split)].val.size();
    nodes = splits.empty() ? count : std::min(nodes, count);
    splits += fmt::format("{}{}", splits.empty() ? "" : ", ", s.split);
    metric = s.metric;
  }
  if (splits.empty()) return;
  notice(fmt::format(
      "train: split {}: the network of the first evaluation is kept, because its validation {} is "
      "100 % already; {} validation nodes are too few to choose a step",
      splits, metric, nodes));
}

void print_summary(const study::Run& run) {
  const study::RowResult& row = run.row;
  const size_t count = row.splits.size();
  study::Table table = study::Table::of({"split", "best step", "train", "val", "test", "seconds"});
  for (const study::TrialResult& s : row.splits) {
    table.row({fmt::format("{}", s.split), fmt::format("{}", s.best_step), train::percent(s.train),
               train::percent(s.val), train::percent(s.test), fmt::format("{:.1f}", s.seconds)});
  }
  table.row({"mean ± std", "", percent(row.train, count), percent(row.val, count),
             percent(row.test, count), ""});
  fmt::print("{}", on_screen(table));
  const int64_t layers = row.choice().layers;
  if (row.choices.size() > 1) {
    study::Table depths = study::Table::of({"layers", "val", "test"});
    for (const study::Choice& d : row.choices) {
      depths.row({fmt::format("{}{}", d.layers, d.layers == layers ? " chosen" : ""),
                  percent(d.val, count), percent(d.test, count)});
    }
    fmt::print("\n{}", on_screen(depths));
  }
  fmt::print("\n{} on {}: test {} {} % ({} layers, {} parameters, {:.4f} s per step)\n",
             run.inputs.config->model, run.inputs.data.dataset->name, row.splits.front().metric,
             percent(row.test, count), layers, row.splits.front().parameters, row.seconds_per_step);
}

/// What --estimate prints.
void print_plan(const study::MemoryPlan& plan, bool json) {
  if (json) {
    print_json({{"peak_bytes", plan.peak()},
                {"limit_bytes", plan.limit},
                {"fits", plan.fits()},
                {"jobs", plan.jobs},
                {"present_bytes", plan.present},
                {"shared_bytes", plan.shared},
                {"trial_bytes", plan.trial}});
    return;
  }
  const auto megabytes = [](int64_t bytes) { return static_cast<double>(bytes) * 1e-6; };
  fmt::print(
      "{:.0f} MB: {:.0f} now, {:.0f} for the graph, {:.0f} for each of {} trials side by side; "
      "{:.0f} MB are available\n",
      megabytes(plan.peak()), megabytes(plan.present), megabytes(plan.shared),
      megabytes(plan.trial), plan.jobs, megabytes(plan.limit));
}

/// One trial at a time, whose matrices are files. Throws: InputError when the disk is too small.
void say_what_spills(const study::MemoryPlan& plan, const fs::path& folder) {
  constexpr double kGigabyte = 1e9;
  tensor::check_spill_folder(folder);
  const auto free = static_cast<double>(fs::space(folder).available) / kGigabyte;
  const double needed = static_cast<double>(plan.trial) / kGigabyte;
  if (free < needed) {
    throw_input("train: {} has {:.1f} GB free, but --spill needs up to {:.1f}; name a larger disk",
                folder.string(), free, needed);
  }
  notice(
      fmt::format("train: needs about {:.1f} GB of memory, and {:.1f} GB are available; files in "
                  "{} hold the rest",
                  static_cast<double>(plan.peak_with(1)) / kGigabyte,
                  static_cast<double>(plan.limit) / kGigabyte, folder.string()));
}

/// Compares what the training will take with what there is. Lowers the number of trials side by
/// side where that helps; returns whether to train. Throws: InputError when it does not fit.
bool memory_allows(const data::Dataset& dataset, train::Config& config, const Train& options) {
  constexpr int64_t kWorthALine = 1'000'000'000;
  const std::optional<study::MemoryPlan> plan = study::plan_memory(dataset, config);
  if (options.estimate) {
    if (!plan)
      throw_compute(
          "{}: the memory of {} cannot be estimated, because it cannot train on a small random "
          "graph",
          dataset.name, config.model);
    print_plan(*plan, options.common.json);
    return false;
  }
  if (!plan) return true;
  if (!plan->fits()) {
    if (config.spill.empty() || !plan->fits_with_files()) {
      throw_does_not_fit(*plan, dataset, config);
    }
    config.jobs = 1;
    say_what_spills(*plan, config.spill);
    return true;
  }
  if (plan->jobs < plan->wanted_jobs) {
    notice(
        fmt::format("train: {} trials side by side instead of {}: more do not fit into {:.1f} GB",
                    plan->jobs, plan->wanted_jobs, static_cast<double>(plan->limit) * 1e-9));
    config.jobs = plan->jobs;
  }
  if (plan->peak() >= kWorthALine) {
    notice(fmt::format("train: needs about {:.1f} GB of memory; {:.1f} GB are available",
                       static_cast<double>(plan->peak()) * 1e-9,
                       static_cast<double>(plan->limit) * 1e-9));
  }
  return true;
}

/// Of a file only what asks for directions: a resolved one has every option.
void say_what_is_ignored(train::Settings settings, const train::Settings& flags,
                         const train::Config& config) {
  std::erase_if(settings, [&flags](const auto& entry) {
    const bool asks = entry.first == "rewire" || entry.first == "directional";
    return !asks && !flags.contains(entry.first);
  });
  note_ignored("train", settings, config);
}

void run(const Train& options) {
  const fs::path given_out = options.out;
  const bool continues = options.resume && train::RunDirectory::is_run(given_out);
  if (options.resume && options.out.empty()) {
    throw_input("train: --resume needs --out, the folder of the run to continue");
  }
  if (options.resume && options.overwrite) {
    throw_input("train: --resume continues a run, --overwrite replaces it; choose one");
  }
  train::Settings settings = continues ? resumed_settings(options, given_out / "config.yaml")
                                       : given_settings(options.training);
  if (!options.data.empty()) settings["data"] = options.data;
  make_paths_absolute(settings);
  if (!settings.contains("data") || settings.at("data").empty()) {
    throw_input(
        "train: no data set was given; name a file, a folder or a known data set: dgat train DATA");
  }
  refuse_input(options.out, settings.at("data"));
  if (continues && fs::exists(given_out / "summary.json")) {
    notice(fmt::format("train: {} is finished; nothing to resume", options.out));
    if (options.common.json) {
      fmt::print("{}", read_whole_file(given_out / "summary.json"));
    } else {
      const report::RunRecord run = report::read_run(given_out);
      const train::MeanStd test{run.test_mean, run.test_std};
      fmt::print("{} on {}: test {} {} %\n", run.model, run.dataset, run.metric,
                 percent(test, run.splits.size()));
    }
    return;
  }
  const study::TrialData data = study::trial_data(train::load_for(settings));
  train::Config config = train::resolve(settings, *data.dataset);
  if (!settings.contains("steps") || !settings.contains("hidden")) {  // a resolved file has both
    notice("train: preset " + train::preset_summary(config, *data.dataset));
  }
  say_what_is_ignored(settings, options.training.flags, config);
  if (!memory_allows(*data.dataset, config, options)) return;
  const fs::path out = options.out.empty()
                           ? train::RunDirectory::default_path(data.dataset->name, config.model)
                           : given_out;
  const train::RunDirectory directory(out,
                                      !dist::leads()      ? train::Existing::kFollow
                                      : options.resume    ? train::Existing::kResume
                                      : options.overwrite ? train::Existing::kOverwrite
                                                          : train::Existing::kRefuse,
                                      options.log == "tensorboard");
  spectral::SpectralCache cache(spectral::default_cache_folder());
  try {
    const study::Run run = study::run_training(data, config, cache, &directory);
    if (!dist::leads()) return;
    const dist::RankScope scope(dist::alone());
    say_where_nothing_was_chosen(run);
    const auto spill = train::spill_scope(config);
    report::write_page(report::run_page(out, cache, {.inputs = &run.inputs}), out / "report.html");
    if (options.common.json) {
      fmt::print("{}", study::to_json(run));
    } else {
      print_summary(run);
      fmt::print("written to {}\n", out.string());
    }
  } catch (const Interrupted& error) {
    const bool begun = train::RunDirectory::is_run(out) && !fs::exists(out / "summary.json");
    if (!begun) throw;  // nothing was worth keeping yet, or everything is kept
    throw Interrupted(fmt::format("{}; continue with: dgat train --resume --out {}", error.what(),
                                  shell_quoted(out.string())));
  } catch (const train::Diverged&) {
    directory.discard();
    throw;
  } catch (...) {  // a full disk or lack of memory: what is trained can be continued
    if (!directory.has_checkpoints()) directory.discard();
    throw;
  }
}

}  // namespace

void add_train(CLI::App& app) {
  auto options = std::make_shared<Train>();
  CLI::App* verb = app.add_subcommand("train", "Train a model over the splits of a data set");
  verb->add_option("DATA", options->data,
                   "data set: a file, a folder, or a name of `dgat datasets`");
  verb->add_option("--out", options->out,
                   "folder of the run; default runs/<dataset>-<model>-<date-time>")
      ->type_name("DIR");
  verb->add_flag("--resume", options->resume, "continue the run in --out where it stopped");
  verb->add_flag("--overwrite", options->overwrite, "replace a run that is already in --out");
  verb->add_flag("--estimate", options->estimate,
                 "print how much memory the training will take, and do not train");
  verb->add_option("--log", options->log,
                   "what is written at every evaluation: jsonl is DIR/log.jsonl; tensorboard adds "
                   "event files in DIR/tensorboard")
      ->type_name("jsonl|tensorboard")
      ->capture_default_str()
      ->check([](const std::string& text) {
        return text == "jsonl" || text == "tensorboard"
                   ? ""
                   : "jsonl or tensorboard was expected, got " + text;
      });
  add_training_options(*verb, options->training, options->common);
  add_common_options(*verb, options->common);
  verb->footer(
      "Defaults shown are those of recipe residual. Recipe classic starts from 2 layers, hidden\n"
      "64, adam, lr 0.01, weight decay 0.001, dropout 0.1; on the nine small data sets it starts\n"
      "from the paper's values (its hidden sizes are those of one of eight heads). Recipe\n"
      "deep starts from 3 layers, hidden 256, 1 head, adam, lr 0.005, weight decay 0.0005,\n"
      "dropout 0.5, 500 steps. The best step is the first with the highest validation metric; a\n"
      "range of layers is decided by the mean validation metric over the splits. Metrics are\n"
      "fractions in files and percent in tables.\n"
      "  dgat train chameleon_filtered.npz --layers 2\n"
      "  dgat train graph.npz --model gat --splits 3 --steps 300 --out runs/gat\n"
      "  dgat train --config runs/gat/config.yaml --model dgat --out runs/dgat\n"
      "  dgat train --resume --out runs/gat");
  verb->callback([options] { run(*options); });
}

}  // namespace dgat::app
