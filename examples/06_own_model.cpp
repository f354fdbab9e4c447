// 06_own_model.cpp: write a model against the public headers and train it with our loop.
// The model: logits_i = W x_i + V (mean of x_j over the neighbours j of i), one layer of GraphSAGE.
// Run:     see 04_train_own_arrays.cpp
// Prints:
//   80 parameters
//   test accuracy 100.0 %
#include <cstdio>
#include <memory>
#include <vector>

#include "dgat/synth/csbm.h"
#include "dgat/tensor/sparse.h"
#include "dgat/train/inputs.h"
#include "dgat/train/trainer.h"

using namespace dgat;

class OneLayer final : public nn::Model<float> {
 public:
  explicit OneLayer(const nn::ModelOptions& options) : Model(options) {
    own_ = &parameters().weight("own.weight", options.classes, options.features);
    neighbours_ = &parameters().weight("neighbours.weight", options.classes, options.features);
  }

  /// Once per graph: the matrix whose row i averages over the neighbours of i.
  void prepare(const nn::GraphInput<float>& input) override {
    const graph::CsrGraph& graph = *input.graph;
    std::vector<int64_t> offsets = {0};
    std::vector<int32_t> columns;
    std::vector<float> values;
    for (graph::NodeId i = 0; i < graph.nodes(); ++i) {
      for (const graph::NodeId j : graph.neighbors(i)) {
        columns.push_back(j);
        values.push_back(1.0F / static_cast<float>(graph.degree(i)));
      }
      offsets.push_back(static_cast<int64_t>(columns.size()));
    }
    mean_ = std::make_unique<tensor::SparseMatrix<float>>(graph.nodes(), graph.nodes(), offsets,
                                                          columns, values);
  }

  /// Operations leave their gradients on the tape; there is no backward function to write.
  tensor::Var<float> forward(tensor::Tape<float>& tape, const nn::GraphInput<float>& input,
                             nn::Inspection<float>*) override {
    const auto x = tape.reference(input.features->dense());
    const auto own = tensor::linear(tape, x, tape.parameter(*own_));
    const auto mean = tensor::spmm(tape, *mean_, x);
    return tensor::add(tape, own, tensor::linear(tape, mean, tape.parameter(*neighbours_)));
  }

 private:
  tensor::Parameter<float>*own_, *neighbours_;
  std::unique_ptr<tensor::SparseMatrix<float>> mean_;
};

int main() {
  const data::Dataset set = synth::csbm(
      {.nodes = 300, .classes = 4, .homophily = 0.1, .features = 10, .signal = 8, .splits = 1});
  // gcn: a name from the registry whose input (features and graph, no directions) we want.
  const train::Config config = train::resolve({{"model", "gcn"}, {"lr", "0.05"}, {"steps", "100"}});
  spectral::SpectralCache cache;
  const auto input = train::InputBuilder(set, config, cache).for_split(0);

  OneLayer model({.features = set.features.cols(), .classes = set.classes});
  model.prepare(input);
  const train::SplitResult result = train::train_split({config, set, input}, model);
  std::printf("%d parameters\n", static_cast<int>(result.parameters));
  std::printf("test accuracy %.1f %%\n", 100 * result.best.test);
}
