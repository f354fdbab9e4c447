#include <fmt/format.h>

#include "dgat/core/interrupt.h"
#include "dgat/core/progress.h"
#include "dgat/tensor/pool.h"
#include "dgat/train/predict.h"
#include "dgat/train/safetensors.h"
#include "run_analysis.h"

namespace dgat::report {
namespace {

/// a_edge . (W_e f + b) + c collapses to one coefficient per feature and one number per head. A
/// head's vector is as long as W_e has rows (all heads read the whole), or as its own slice of
/// them.
std::vector<DirectionalTerm> collapsed_terms(const train::SafeTensors& file, int64_t layers) {
  std::vector<DirectionalTerm> terms;
  const auto find = [&](int64_t layer, const char* name) {
    return file.find(fmt::format("layers.{}.{}", layer, name));
  };
  for (int64_t layer = 0; layer < layers; ++layer) {
    const train::NamedTensor* map = find(layer, "lin_edge.weight");
    const train::NamedTensor* vector = find(layer, "att_edge.weight");
    if (vector == nullptr) vector = find(layer, "att_edge");
    if (map == nullptr || vector == nullptr) continue;
    const train::NamedTensor* map_bias = find(layer, "lin_edge.bias");
    const train::NamedTensor* vector_bias = find(layer, "att_edge.bias");
    const int64_t rows = map->shape[0], features = map->shape[1];
    // A single head may be written as a vector: its first extent is then the length.
    const auto entries = static_cast<int64_t>(vector->values.size());
    const int64_t heads = vector->shape.size() > 1 ? vector->shape[vector->shape.size() - 2] : 1;
    const int64_t length = entries / heads;
    const bool sliced = length < rows;
    for (int64_t head = 0; head < heads; ++head) {
      DirectionalTerm term{static_cast<int>(layer), static_cast<int>(head),
                           std::vector<double>(static_cast<size_t>(features), 0), 0};
      for (int64_t k = 0; k < length; ++k) {
        const double a = vector->values[static_cast<size_t>(head * length + k)];
        const int64_t row = sliced ? head * length + k : k;
        for (int64_t f = 0; f < features; ++f) {
          term.coefficients[static_cast<size_t>(f)] +=
              a * map->values[static_cast<size_t>(row * features + f)];
        }
        if (map_bias != nullptr) term.bias += a * map_bias->values[static_cast<size_t>(row)];
      }
      if (vector_bias != nullptr) term.bias += vector_bias->values[static_cast<size_t>(head)];
      terms.push_back(std::move(term));
    }
  }
  return terms;
}

rewire::MessageGraph arcs_of(const train::Prediction& prediction, int64_t nodes) {
  rewire::MessageGraph graph;
  graph.offsets.assign(static_cast<size_t>(nodes) + 1, 0);
  for (const int64_t receiver : prediction.receivers) {
    ++graph.offsets[static_cast<size_t>(receiver) + 1];
  }
  for (size_t i = 0; i < static_cast<size_t>(nodes); ++i) graph.offsets[i + 1] += graph.offsets[i];
  graph.senders.assign(prediction.senders.begin(), prediction.senders.end());
  return graph;
}

}  // namespace

ModelAnalysis analyse_model(const RunRecord& run, train::InputBuilder& builder,
                            int64_t shown_split) {
  ModelAnalysis analysis;
  Progress progress("predicting", static_cast<int64_t>(run.splits.size()));
  for (const SplitRecord& split : run.splits) {
    throw_if_interrupted("report");
    train::TrainedModel trained = train::load_trained(run.directory, split.split);
    const bool shown = split.split == shown_split;
    // Attention is that of a pass over the whole graph, which may not fit where cells were needed.
    const bool attention = shown && trained.config.cells == 0;
    train::Prediction prediction =
        train::predict(trained, builder, {.embeddings = false, .attention = attention});
    const auto nodes = std::ssize(prediction.classes);
    analysis.outputs.push_back({split.split,
                                std::move(prediction.probabilities),
                                {prediction.classes.begin(), prediction.classes.end()}});
    if (shown && !prediction.attention.empty()) {
      analysis.messages = arcs_of(prediction, nodes);
      for (auto& layer : prediction.attention) {
        analysis.attention.push_back({static_cast<int>(layer.heads), std::move(layer.weights)});
      }
      const auto file = run.directory / fmt::format("split-{}.safetensors", split.split);
      analysis.terms = collapsed_terms(train::read_safetensors(file), trained.layers);
    }
    progress.update(static_cast<int64_t>(analysis.outputs.size()));
  }
  tensor::trim_pool();  // nothing else on the page computes with matrices
  return analysis;
}

}  // namespace dgat::report
