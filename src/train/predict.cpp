#include "dgat/train/predict.h"

#include <algorithm>
#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/subnormals.h"
#include "dgat/nn/registry.h"
#include "dgat/tensor/pool.h"
#include "dgat/train/all_logits.h"
#include "dgat/train/inputs.h"
#include "dgat/train/metrics.h"

namespace dgat::train {
namespace {
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

Prediction predict(TrainedModel& trained, const data::Dataset& dataset,
                   spectral::SpectralCache& cache, const PredictOptions& options) {
  if (!dataset.features.empty() && dataset.features.cols() != trained.features) {
    throw_input("{}: has {} features, the model was trained with {} (on {})", dataset.name,
                dataset.features.cols(), trained.features, trained.dataset);
  }
  if (nn::find_model(trained.config.model).per_node && dataset.graph.nodes() != trained.nodes) {
    throw_input(
        "{}: has {} nodes; {} learnt a row for each of the {} nodes of {} and cannot predict "
        "others",
        dataset.name, dataset.graph.nodes(), trained.config.model, trained.nodes, trained.dataset);
  }
  Config config = trained.config;
  config.cells = std::min<int64_t>(config.cells, dataset.graph.nodes());
  InputBuilder builder(dataset, config, cache);
  return predict(trained, builder, options);
}

Prediction predict(TrainedModel& trained, InputBuilder& builder, const PredictOptions& options) {
  const nn::GraphInput<float> input = builder.for_prediction(trained.graph);
  trained.model->prepare(input);
  tensor::Tape<float> tape;
  tape.begin({.precision = pass_precision(trained.config)});
  const FlushSubnormals flush;  // as in training
  nn::Inspection<float> seen;
  const bool inspect = options.embeddings || options.attention;
  const auto logits = inspect ? trained.model->forward(tape, input, &seen)
                              : all_logits(tape, *trained.model, input, trained.config);
  if (!tensor::all_finite(logits.value())) {
    throw_compute(
        "predict: {}, trained on {}: the network's output is not finite; check that weights and "
        "features are finite",
        trained.config.model, trained.dataset);
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
    for (auto& layer : seen.attention) {  // one of arcs x heads at a time, beside the copies
      tensor::trim_pool();
      out.attention.push_back({layer.cols(), {layer.values().begin(), layer.values().end()}});
      layer = {};
    }
  }
  return out;
}

}  // namespace dgat::train
