#include "dgat/train/trained_model.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "dgat/core/error.h"
#include "dgat/nn/parameter_limit.h"
#include "dgat/nn/registry.h"
#include "dgat/tensor/simd.h"
#include "dgat/train/option_table.h"
#include "dgat/train/results_version.h"
#include "dgat/train/run_directory.h"
#include "dgat/train/weights.h"

namespace dgat::train {
namespace {
namespace fs = std::filesystem;

fs::path weight_file(const fs::path& run, int64_t split) {
  if (fs::is_regular_file(run)) return run;
  if (!fs::is_directory(run)) {
    throw_input("{}: no such run; give the --out folder of `dgat train` or a weight file",
                run.string());
  }
  fs::path file = run / fmt::format("split-{}.safetensors", split);
  if (fs::exists(file)) return file;
  if (RunDirectory::is_run(run) && !fs::exists(run / "summary.json")) {
    throw_input("{}: the run is not finished; continue it with `dgat train --resume --out {}`",
                run.string(), run.string());
  }
  throw_input("{}: there is no {}; the run has other splits", run.string(),
              file.filename().string());
}

const std::string& entry(const SafeTensors& file, const std::string& key, const fs::path& path) {
  const auto at = file.metadata.find(key);
  if (at == file.metadata.end()) {
    throw_input("{}: __metadata__ has no {}; was it written by `dgat train`?", path.string(), key);
  }
  return at->second;
}

int64_t whole_number(const SafeTensors& file, const std::string& key, const fs::path& path) {
  const std::string& text = entry(file, key, path);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    throw_input("{}: __metadata__ {} is '{}', a count was expected", path.string(), key, text);
  }
  return value;
}

std::vector<std::string> class_names_in(const std::string& json, const fs::path& path) {
  try {
    return nlohmann::json::parse(json).get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception&) {
    throw_input("{}: __metadata__ dgat.class_names is not a list of names", path.string());
  }
}

/// The model that the metadata describe, no larger than what the file has for it.
std::unique_ptr<nn::Model<float>> make_model_of(const SafeTensors& file,
                                                const TrainedModel& trained, const fs::path& path) {
  int64_t numbers = 0;
  for (const NamedTensor& tensor : file.tensors) numbers += std::ssize(tensor.values);
  const nn::ParameterLimit limit(numbers);
  try {
    return nn::make_model(trained.config.model,
                          model_options(trained.config, trained.layers, trained.features,
                                        trained.classes, trained.nodes));
  } catch (const InputError& error) {
    throw_input("{}: __metadata__ does not fit the tensors: {}", path.string(), error.what());
  }
}

/// A file without the entries of advice has those of its options.
GraphChoice graph_in(const SafeTensors& file, const Config& config, const fs::path& path) {
  Config chosen = config;
  const std::string mode = entry(file, "dgat.rewire", path);
  chosen.rewire = rewire::parse_mode(mode);
  if (chosen.rewire.advised || chosen.rewire.automatic) {
    throw_input("{}: __metadata__ dgat.rewire is {}, a mode was expected", path.string(), mode);
  }
  if (config.laplacian == LaplacianKind::kDefault || !file.metadata.contains("dgat.gamma"))
    return graph_of(chosen);
  for (const char* key : {"gamma", "alpha", "epsilon"}) {
    find_option(key).set(chosen, entry(file, fmt::format("dgat.{}", key), path));
  }
  return graph_of(chosen);
}

/// Class c is the c-th name, on whatever graph the network predicts.
std::string names_as_json(const std::vector<std::string>& names) {
  return nlohmann::json(names).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void save_trained(const fs::path& path, nn::Model<float>& model, const Config& config,
                  const data::Dataset& dataset, const TrainedOn& on) {
  std::map<std::string, std::string> metadata = {
      {"format", "pt"},
      {"dgat.dataset", dataset.name},
      {"dgat.features", fmt::format("{}", dataset.features.cols())},
      {"dgat.classes", fmt::format("{}", dataset.classes)},
      {"dgat.nodes", fmt::format("{}", dataset.graph.nodes())},
      {"dgat.split", fmt::format("{}", on.split)},
      {"dgat.best_step", fmt::format("{}", on.best_step)},
      {"dgat.rewire", rewire::to_string(on.graph.mode)},
      {"dgat.gamma", fmt::format("{}", on.graph.gamma)},
      {"dgat.alpha", fmt::format("{}", on.graph.alpha)},
      {"dgat.epsilon", on.graph.epsilon ? rewire::to_string(*on.graph.epsilon) : "auto"},
      {"dgat.results_version", fmt::format("{}", kResultsVersion)},
      {"dgat.instruction_set", to_string(tensor::simd_level())}};
  if (!dataset.class_names.empty()) {
    metadata["dgat.class_names"] = names_as_json(dataset.class_names);
  }
  // Equal weights make equal files: options such as jobs are left out.
  for (const OptionInfo& option : config_options()) {
    if (option.changes_result) metadata[option.key] = option.get(config);
  }
  metadata["layers"] = fmt::format("{}", on.layers);
  save_weights(path, model, metadata);
}

TrainedModel load_trained(const fs::path& run, int64_t split) {
  const fs::path path = weight_file(run, split);
  const SafeTensors file = read_safetensors(path);
  TrainedModel trained;
  Settings settings;
  for (const OptionInfo& option : config_options()) {
    // A file older than an option means its default, not what a recipe says today.
    const auto at = file.metadata.find(option.key);
    settings[option.key] = at != file.metadata.end() ? at->second : option.get(Config{});
  }
  entry(file, "model", path);
  trained.config = resolve(settings);
  trained.split = whole_number(file, "dgat.split", path);
  trained.features = whole_number(file, "dgat.features", path);
  trained.classes = whole_number(file, "dgat.classes", path);
  trained.graph = graph_in(file, trained.config, path);
  trained.dataset = entry(file, "dgat.dataset", path);
  if (const auto at = file.metadata.find("dgat.class_names"); at != file.metadata.end()) {
    trained.class_names = class_names_in(at->second, path);
  }
  trained.layers = trained.config.layers.first;
  if (nn::find_model(trained.config.model).per_node) {
    trained.nodes = whole_number(file, "dgat.nodes", path);
  }
  trained.model = make_model_of(file, trained, path);
  load_weights(file, *trained.model, path.string());
  return trained;
}

}  // namespace dgat::train
