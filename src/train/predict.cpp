#include "dgat/train/predict.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "dgat/core/error.h"
#include "dgat/core/subnormals.h"
#include "dgat/nn/registry.h"
#include "dgat/train/inputs.h"
#include "dgat/train/metrics.h"
#include "dgat/train/option_table.h"
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

/// Softmax over the columns; one column is the logit of class 1 of two.
void add_probabilities(const tensor::Matrix<float>& logits, Prediction& out) {
  const int64_t columns = logits.cols();
  out.class_count = columns == 1 ? 2 : columns;
  for (int64_t i = 0; i < logits.rows(); ++i) {
    const std::span<const float> row(logits.row(i), static_cast<size_t>(columns));
    out.classes.push_back(predicted_class(row));
    std::vector<double> scores(row.begin(), row.end());
    if (columns == 1) scores.insert(scores.begin(), 0.0);
    const double largest = *std::max_element(scores.begin(), scores.end());
    double total = 0;
    for (double& s : scores) total += s = std::exp(s - largest);
    for (const double s : scores) out.probabilities.push_back(static_cast<float>(s / total));
  }
}

void add_arcs(const tensor::MessageGraph& graph, Prediction& out) {
  out.senders.assign(graph.senders().begin(), graph.senders().end());
  out.receivers.reserve(out.senders.size());
  for (int64_t i = 0; i < graph.nodes(); ++i) {
    const auto row = static_cast<size_t>(i);
    out.receivers.insert(out.receivers.end(),
                         static_cast<size_t>(graph.offsets()[row + 1] - graph.offsets()[row]), i);
  }
}

}  // namespace

TrainedModel load_trained(const fs::path& run, int64_t split) {
  const fs::path path = weight_file(run, split);
  const SafeTensors file = read_safetensors(path);
  TrainedModel trained;
  Settings settings;
  for (const OptionInfo& option : config_options()) {
    if (const auto at = file.metadata.find(option.key); at != file.metadata.end()) {
      settings[option.key] = at->second;
    }
  }
  entry(file, "model", path);
  trained.config = resolve(settings);
  trained.split = whole_number(file, "dgat.split", path);
  trained.features = whole_number(file, "dgat.features", path);
  trained.classes = whole_number(file, "dgat.classes", path);
  trained.rewire_mode = entry(file, "dgat.rewire", path);
  trained.dataset = entry(file, "dgat.dataset", path);
  if (const auto at = file.metadata.find("dgat.class_names"); at != file.metadata.end()) {
    trained.class_names = class_names_in(at->second, path);
  }
  trained.layers = trained.config.layers.first;
  if (nn::find_model(trained.config.model).per_node) {
    trained.nodes = whole_number(file, "dgat.nodes", path);
  }
  trained.model = nn::make_model(trained.config.model,
                                 model_options(trained.config, trained.layers, trained.features,
                                               trained.classes, trained.nodes));
  load_weights(file, *trained.model, path.string());
  return trained;
}

Prediction predict(TrainedModel& trained, const data::Dataset& dataset,
                   spectral::SpectralCache& cache, const PredictOptions& options) {
  if (!dataset.features.empty() && dataset.features.cols() != trained.features) {
    throw_input("{}: has {} features, the model was trained with {} (on {})", dataset.name,
                dataset.features.cols(), trained.features, trained.dataset);
  }
  if (nn::find_model(trained.config.model).per_node && dataset.graph.nodes() != trained.nodes) {
    throw_input(
        "{}: has {} nodes; {} learnt a row for each of the {} nodes of {} and knows no other",
        dataset.name, dataset.graph.nodes(), trained.config.model, trained.nodes, trained.dataset);
  }
  InputBuilder builder(dataset, trained.config, cache);
  const nn::GraphInput<float> input = builder.for_prediction(trained.rewire_mode);
  trained.model->prepare(input);
  tensor::Tape<float> tape;
  tape.begin({});
  const FlushSubnormals flush;  // as in training
  nn::Inspection<float> seen;
  const bool inspect = options.embeddings || options.attention;
  const auto logits = trained.model->forward(tape, input, inspect ? &seen : nullptr);
  if (!tensor::all_finite(logits.value())) {
    throw_compute(
        "predict: {} on {}: the network's output is not finite; are weights and features?",
        trained.config.model, dataset.name);
  }
  Prediction out;
  add_probabilities(logits.value(), out);
  if (options.embeddings) {
    if (seen.embeddings.empty()) {
      throw_input("{} with {} layer has no hidden representation to write", trained.config.model,
                  trained.layers);
    }
    out.embeddings.assign(seen.embeddings.values().begin(), seen.embeddings.values().end());
    out.embedding_width = seen.embeddings.cols();
  }
  if (options.attention) {
    if (!seen.attention.empty()) add_arcs(input.messages->graph, out);
    for (const auto& layer : seen.attention) {
      out.attention.push_back({layer.cols(), {layer.values().begin(), layer.values().end()}});
    }
  }
  return out;
}

}  // namespace dgat::train
