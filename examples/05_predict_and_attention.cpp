// 05_predict_and_attention.cpp: save a trained network, read it back, predict, look at attention.
// Run:     see 04_train_own_arrays.cpp
// Prints:
//   4 classes, test accuracy 100.0 %
//   node 0 is of class 0 and predicted as 0
//   attention of node 0 in layer 0: 8 heads, weights of every head sum to 1.000
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "dgat/study/run.h"
#include "dgat/synth/csbm.h"
#include "dgat/train/predict.h"

using namespace dgat;

int main() {
  // A graph with a strong signal in its features; any data set serves (see 04).
  const data::Dataset set = synth::csbm({.nodes = 200, .classes = 4, .signal = 8, .splits = 1});
  const std::filesystem::path folder = "05_run";
  std::filesystem::remove_all(folder);
  spectral::SpectralCache cache;
  {
    const train::RunDirectory directory(folder, train::Existing::kRefuse);
    const train::Config config = train::resolve(
        {{"hidden", "32"}, {"layers", "1"}, {"lr", "0.01"}, {"steps", "60"}, {"rewire", "none"}});
    const study::Run run = study::run_training(study::trial_data(set), config, cache, &directory);
    std::printf("%d classes, test accuracy %.1f %%\n", set.classes, 100 * run.row.test.mean);
  }

  // Another program can do this later. It needs the weight file and a graph.
  train::TrainedModel trained = train::load_trained(folder, /*split=*/0);
  const train::Prediction answer = train::predict(trained, set, cache, {.attention = true});
  std::printf("node 0 is of class %d and predicted as %d\n", set.labels[0],
              static_cast<int>(answer.classes[0]));

  // Arc e brings a message from senders[e] to receivers[e], self loops included.
  const train::Prediction::Layer& layer = answer.attention.at(0);
  const auto heads = static_cast<size_t>(layer.heads);
  std::vector<double> sums(heads);
  for (size_t arc = 0; arc < answer.receivers.size(); ++arc) {
    if (answer.receivers[arc] != 0) continue;
    for (size_t h = 0; h < heads; ++h) sums[h] += layer.weights[arc * heads + h];
  }
  double worst = 1;
  for (const double sum : sums) worst = std::abs(sum - 1) > std::abs(worst - 1) ? sum : worst;
  std::printf("attention of node 0 in layer 0: %zu heads, weights of every head sum to %.3f\n",
              heads, worst);
  std::filesystem::remove_all(folder);
}
