#include "dgat/study/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/quiet_notices.h"
#include "dgat/core/subnormals.h"
#include "dgat/study/run.h"
#include "dgat/tensor/simd.h"
#include "dgat/train/all_logits.h"
#include "dgat/train/option_table.h"
#include "dgat/train/safetensors.h"
#include "dgat/train/tfrecord.h"
#include "dgat/train/trained_model.h"
#include "study_json.h"

namespace dgat::study {
namespace fs = std::filesystem;
namespace {

/// Metrics in the order of summary.json and log.jsonl.
constexpr const char* kParts[] = {"train", "val", "test"};
using Metrics = std::map<std::string, double>;  // NaN: null in the file

struct SplitSummary {
  int64_t best_step = 0;
  Metrics metrics;
};

/// A number, or null for one that does not exist.
bool is_metric(const Json& object, const char* key) {
  return object.contains(key) && (object[key].is_number() || object[key].is_null());
}
double metric(const Json& object, const char* key) {
  return object[key].is_null() ? NAN : object[key].get<double>();
}
bool is_integer(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_number_integer();
}
bool same(double a, double b, double tolerance = 0) {
  return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance;
}

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

/// Collects what is wrong, file by file.
class Check {
 public:
  Check(const fs::path& folder, spectral::SpectralCache& cache) : folder_(folder), cache_(cache) {}

  Verification run(bool predict) {
    result_.finished = fs::exists(folder_ / "summary.json");
    file("config.yaml", [this](const fs::path& path) { read_config(path); });
    if (result_.finished)
      file("summary.json", [this](const fs::path& path) { read_summary(path); });
    if (fs::exists(folder_ / "log.jsonl")) {
      file("log.jsonl", [this](const fs::path& path) { read_log(path); });
    } else {
      problem("log.jsonl", "is missing");
    }
    for (const auto& [split, unused] : splits_) {
      file(fmt::format("split-{}.safetensors", split),
           [this, k = split](const fs::path& path) { read_weights(path, k); });
    }
    each_file("checkpoints", [](const fs::path& path) { read_checkpoint(path); });
    if (result_.finished) {
      each_file("tensorboard", [](const fs::path& path) { train::check_events(path); });
    }
    if (fs::exists(folder_ / "report.html")) {
      file("report.html", [](const fs::path& path) {
        if (!read_whole_file(path).ends_with("</html>\n")) throw_input("ends too early");
      });
    }
    if (predict && result_.finished && result_.ok()) compare_predictions();
    return std::move(result_);
  }

 private:
  void problem(const std::string& name, const std::string& text) {
    const std::string prefix = name + ": ";
    result_.problems.push_back(text.starts_with(prefix) ? text : prefix + text);
  }

  /// body(path); what it throws is the problem of the file.
  template <class Body>
  void file(const std::string& name, const Body& body) {
    ++result_.files;
    const std::string path = (folder_ / name).string();
    try {
      body(folder_ / name);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {  // messages name the file in full
      const std::string text = error.what();
      problem(name, text.starts_with(path + ": ") ? text.substr(path.size() + 2) : text);
    }
  }
  template <class Body>
  void each_file(const std::string& name, const Body& body) {
    std::error_code ignored;
    std::vector<fs::path> files;
    for (fs::recursive_directory_iterator at(folder_ / name, ignored), end; !ignored && at != end;
         at.increment(ignored)) {
      if (at->is_regular_file(ignored)) files.push_back(at->path().lexically_relative(folder_));
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& path : files) file(path.string(), body);
  }

  void read_config(const fs::path& path) { config_ = train::resolve(train::read_settings(path)); }

  void read_summary(const fs::path& path) {
    const Json json = Json::parse(read_whole_file(path), nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) throw_input("is not a JSON object");
    if (!json.contains("splits") || !json["splits"].is_array() || json["splits"].empty()) {
      throw_input("key 'splits' is missing or empty");
    }
    if (!is_integer(json, "layers")) throw_input("key 'layers' is missing or not a number");
    layers_ = json["layers"].get<int64_t>();
    std::map<std::string, std::vector<double>> values;
    for (const Json& row : json["splits"]) {
      if (!row.is_object() || !is_integer(row, "split") || !is_integer(row, "best_step")) {
        throw_input("a row of 'splits' has no split or best_step");
      }
      const auto split = row["split"].get<int64_t>();
      SplitSummary& summary = splits_[split];
      summary.best_step = row["best_step"].get<int64_t>();
      for (const char* part : kParts) {
        if (!is_metric(row, part)) throw_input("split {} has no {} metric", split, part);
        const double value = summary.metrics[part] = metric(row, part);
        if (!std::isnan(value) && !(value >= 0 && value <= 1)) {
          throw_input("the {} metric of split {} is {}, outside [0, 1]", part, split, value);
        }
        values[part].push_back(value);
      }
    }
    for (const char* part : {"val", "test"}) {
      const train::MeanStd expected = train::mean_std(values[part]);
      const std::string mean = fmt::format("{}_mean", part), std = fmt::format("{}_std", part);
      for (const auto& [key, value] :
           {std::pair{mean, expected.mean}, std::pair{std, expected.std}}) {
        if (!is_metric(json, key.c_str()) || !same(metric(json, key.c_str()), value, 1e-12)) {
          throw_input("key '{}' is not that of the splits ({})", key, value);
        }
      }
    }
    compare_options(json);
  }

  void compare_options(const Json& summary) {
    if (!config_) return;
    if (!summary.contains("options") || !summary["options"].is_object()) {
      throw_input("key 'options' is missing");
    }
    for (const train::OptionInfo& option : train::config_options()) {
      if (!option.changes_result || !summary["options"].contains(option.key)) continue;
      const Json& value = summary["options"][option.key];
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      train::Config other = *config_;
      option.set(other, text);
      if (option.get(other) != option.get(*config_)) {
        throw_input("option {} is {}, and {} in config.yaml", option.key, text,
                    option.get(*config_));
      }
    }
  }

  void read_log(const fs::path& path) {
    const std::string text = read_whole_file(path);
    std::map<int64_t, Metrics> best;
    int64_t number = 0;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      ++number;
      if (end == std::string::npos) {
        if (!result_.finished) break;  // the run continues, or was killed
        throw_input("line {} is cut off", number);
      }
      const Json line = Json::parse(text.substr(begin, end - begin), nullptr, false);
      begin = end + 1;
      if (!line.is_object() || !is_integer(line, "layers") || !is_integer(line, "split") ||
          !is_integer(line, "step") || !is_metric(line, "loss") || !is_metric(line, "train") ||
          !is_metric(line, "val") || !is_metric(line, "test")) {
        throw_input("line {} is not an evaluation", number);
      }
      const auto at = splits_.find(line["split"].get<int64_t>());
      if (at == splits_.end() || line["layers"].get<int64_t>() != layers_) continue;
      if (line["step"].get<int64_t>() != at->second.best_step) continue;
      for (const char* part : kParts) best[at->first][part] = metric(line, part);
    }
    for (const auto& [split, summary] : splits_) {
      if (!best.contains(split)) {
        throw_input("has no evaluation of split {} after step {}", split, summary.best_step);
      }
      for (const char* part : kParts) {
        if (same(best[split][part], summary.metrics.at(part), 1e-12)) continue;
        throw_input("the {} metric of split {} after step {} is {}, and {} in summary.json", part,
                    split, summary.best_step, best[split][part], summary.metrics.at(part));
      }
    }
  }

  void read_weights(const fs::path& path, int64_t split) {
    const train::TrainedModel trained = train::load_trained(path, split);
    const train::SafeTensors tensors = train::read_safetensors(path);
    check_finite(tensors);
    if (trained.split != split) throw_input("holds the weights of split {}", trained.split);
    if (trained.layers != layers_) {
      throw_input("has {} layers, and summary.json {}", trained.layers, layers_);
    }
    const auto step = tensors.metadata.find("dgat.best_step");
    const int64_t best = splits_.at(split).best_step;
    if (step == tensors.metadata.end() || step->second != fmt::format("{}", best)) {
      throw_input("is not of step {}, the best one of summary.json", best);
    }
    for (const train::OptionInfo& option : train::config_options()) {
      if (!config_ || !option.changes_result || option.affects_only(train::Affects::kTrials) ||
          option.affects_any(train::Affects::kData)) {
        continue;
      }
      if (option.get(trained.config) != option.get(*config_)) {
        throw_input("option {} is {}, and {} in config.yaml", option.key,
                    option.get(trained.config), option.get(*config_));
      }
    }
  }

  static void read_checkpoint(const fs::path& path) { check_finite(train::read_safetensors(path)); }

  static void check_finite(const train::SafeTensors& file) {
    for (const train::NamedTensor& tensor : file.tensors) {
      if (!all_finite(tensor.values)) throw_input("tensor {} is not finite", tensor.name);
    }
  }

  void compare_predictions() {
    try {
      const QuietNotices quiet;
      const RunInputs inputs = open_run(folder_, cache_);
      for (const auto& [split, summary] : splits_) compare_split(inputs, split, summary);
      result_.predicted = true;
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      problem("config.yaml", fmt::format("the networks cannot be run: {}", error.what()));
    }
  }

  void compare_split(const RunInputs& inputs, int64_t split, const SplitSummary& summary) {
    const data::Dataset& dataset = *inputs.data.dataset;
    const std::string name = fmt::format("split-{}.safetensors", split);
    if (split < 0 || split >= std::ssize(dataset.splits)) {
      return problem(name, "the data set no longer has this split");
    }
    const train::SafeTensors file = train::read_safetensors(folder_ / name);
    const auto level = file.metadata.find("dgat.instruction_set");
    const train::TrainedModel trained = train::load_trained(folder_, split);
    const bool same_precision =
        trained.config.precision != train::PrecisionChoice::kBf16 || tensor::has_bf16();
    const bool exact = same_precision && level != file.metadata.end() &&
                       level->second == tensor::to_string(tensor::simd_level());
    const nn::GraphInput<float> input = inputs.builder->for_split(split);
    trained.model->prepare(input);
    const FlushSubnormals flush;  // as in training
    tensor::Tape<float> tape;
    tape.begin({.precision = train::pass_precision(trained.config)});
    const tensor::Var<float> logits =
        train::all_logits(tape, *trained.model, input, *inputs.config);
    const train::Scores scores{logits.value().values(), logits.cols()};
    const train::MetricKind kind = train::metric_for(inputs.config->metric, dataset);
    const data::Split& parts = dataset.splits[static_cast<size_t>(split)];
    const Metrics found = {{"train", train::evaluate(kind, scores, dataset.labels, parts.train)},
                           {"val", train::evaluate(kind, scores, dataset.labels, parts.val)},
                           {"test", train::evaluate(kind, scores, dataset.labels, parts.test)}};
    for (const char* part : kParts) {
      if (same(found.at(part), summary.metrics.at(part), exact ? 1e-12 : kOtherInstructions)) {
        continue;
      }
      problem(name, fmt::format("predicts with {} metric {}, and summary.json says {}; are the "
                                "data those of the training?",
                                part, found.at(part), summary.metrics.at(part)));
    }
  }

  const fs::path& folder_;
  spectral::SpectralCache& cache_;
  Verification result_;
  std::optional<train::Config> config_;
  int64_t layers_ = 0;
  std::map<int64_t, SplitSummary> splits_;
};

}  // namespace

Verification verify_run(const fs::path& folder, spectral::SpectralCache& cache, bool predict) {
  if (!fs::is_directory(folder)) {
    throw_input("{}: is not a folder; give the --out folder of `dgat train`", folder.string());
  }
  if (!train::RunDirectory::is_run(folder)) {
    throw_input("{}: holds no run; give the --out folder of `dgat train`", folder.string());
  }
  return Check(folder, cache).run(predict);
}

}  // namespace dgat::study
