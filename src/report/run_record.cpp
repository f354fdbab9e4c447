#include "dgat/report/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "dgat/core/error.h"
#include "dgat/core/open_file.h"
#include "dgat/core/progress.h"
#include "dgat/core/shell.h"
#include "dgat/train/option_table.h"
#include "read_json.h"

namespace dgat::report {
namespace {

Json read_summary(const std::filesystem::path& path) {
  Json summary = read_object(path);
  for (const char* key : {"model", "dataset", "metric"}) {
    if (!summary.contains(key) || !summary[key].is_string()) {
      throw_input("{}: key '{}' is missing or not a string", path.string(), key);
    }
  }
  if (!summary.contains("splits") || !summary["splits"].is_array()) {
    throw_input("{}: key 'splits' is missing or not a list", path.string());
  }
  return summary;
}

bool is_evaluation(const Json& entry) {
  return entry.is_object() && entry.contains("split") && entry["split"].is_number() &&
         entry.contains("step") && entry["step"].is_number();
}

/// Appends the evaluations of the chosen depth. A last line without its end is left out: the
/// training was killed while it wrote. Other lines that cannot be read are counted in a notice.
void read_log(const std::filesystem::path& path, RunRecord& run) {
  if (!std::filesystem::exists(path)) return;
  std::ifstream file = open_file(path);
  int64_t unread = 0;
  for (std::string line; std::getline(file, line);) {
    const Json entry = parse_json(line);
    if (!is_evaluation(entry)) {
      if (!file.eof()) ++unread;
      continue;
    }
    if (entry.contains("layers") && integer_at(entry, "layers") != run.layers) continue;
    const int64_t split = integer_at(entry, "split");
    const auto record = std::find_if(run.splits.begin(), run.splits.end(),
                                     [&](const SplitRecord& s) { return s.split == split; });
    if (record == run.splits.end()) continue;
    record->curve.push_back({integer_at(entry, "step"), number_at(entry, "loss"),
                             number_at(entry, "train"), number_at(entry, "val"),
                             number_at(entry, "test")});
  }
  if (unread > 0) {
    notice(
        fmt::format("{}: {} lines are no evaluations; the learning curves leave them out; `dgat "
                    "verify` checks the run",
                    path.string(), unread));
  }
}

/// A resumed run may log a step twice; the later line is what happened.
void keep_last_of_each_step(std::vector<train::StepRecord>& curve) {
  std::reverse(curve.begin(), curve.end());
  std::stable_sort(
      curve.begin(), curve.end(),
      [](const train::StepRecord& a, const train::StepRecord& b) { return a.step < b.step; });
  curve.erase(std::unique(curve.begin(), curve.end(),
                          [](const train::StepRecord& a, const train::StepRecord& b) {
                            return a.step == b.step;
                          }),
              curve.end());
}

}  // namespace

std::string RunRecord::option(const std::string& key, const std::string& otherwise) const {
  for (const auto& [name, value] : options) {
    if (name == key) return value;
  }
  return otherwise;
}

RunRecord read_run(const std::filesystem::path& directory) {
  const Json summary = read_summary(directory / "summary.json");
  RunRecord run;
  run.directory = directory;
  run.model = summary["model"].get<std::string>();
  run.dataset = summary["dataset"].get<std::string>();
  run.metric = summary["metric"].get<std::string>();
  run.layers = integer_at(summary, "layers");
  run.parameters = integer_at(summary, "parameters");
  run.peak_rss_bytes = integer_at(summary, "peak_rss_bytes");
  run.test_mean = number_at(summary, "test_mean");
  run.test_std = number_at(summary, "test_std");
  run.val_mean = number_at(summary, "val_mean");
  run.val_std = number_at(summary, "val_std");
  run.seconds_per_step = number_at(summary, "seconds_per_step");
  for (const Json& split : summary["splits"]) {
    run.splits.push_back({integer_at(split, "split"),
                          integer_at(split, "best_step"),
                          number_at(split, "train"),
                          number_at(split, "val"),
                          number_at(split, "test"),
                          number_at(split, "seconds"),
                          {}});
  }
  if (summary.contains("depths")) {
    for (const Json& depth : summary["depths"]) {
      run.depths.push_back({integer_at(depth, "layers"), number_at(depth, "val_mean"),
                            number_at(depth, "val_std"), number_at(depth, "test_mean"),
                            number_at(depth, "test_std")});
    }
  }
  if (summary.contains("options") && summary["options"].is_object()) {
    for (const auto& [key, value] : summary["options"].items()) {
      run.options.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  read_log(directory / "log.jsonl", run);
  for (SplitRecord& split : run.splits) keep_last_of_each_step(split.curve);
  return run;
}

namespace {

/// A file may name options of another version of dgat.
bool is_switch(const std::string& key) {
  const auto options = train::config_options();
  return std::any_of(options.begin(), options.end(), [&key](const train::OptionInfo& option) {
    return option.key == key && option.is_switch;
  });
}

}  // namespace

std::string command_line(const RunRecord& run, const std::vector<std::string>& left_out) {
  std::string line = "dgat train " + shell_quoted(run.option("data", run.dataset));
  for (const auto& [key, value] : run.options) {
    if (key == "data" || value.empty()) continue;
    if (std::ranges::find(left_out, key) != left_out.end()) continue;
    std::string flag = key;
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (is_switch(key)) {
      if (value == "on") line += " --" + flag;
      continue;
    }
    line += fmt::format(" --{} {}", flag, shell_quoted(value));
  }
  return line;
}

}  // namespace dgat::report
