#include "step_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/core/random.h"
#include "dgat/data/load.h"
#include "dgat/graph/builder.h"
#include "dgat/synth/minesweeper.h"
#include "stopwatch.h"

namespace dgat::bench {
namespace {

/// 22,662 nodes, 32,927 edges, 300 features, 18 classes: a path with chords to near neighbours.
data::Dataset chain() {
  constexpr graph::NodeId kNodes = 22662;
  constexpr size_t kEdges = 32927;
  constexpr int64_t kFeatures = 300;
  Random random(1);
  std::vector<graph::Edge> edges;
  for (graph::NodeId i = 0; i + 1 < kNodes; ++i) edges.push_back({i, i + 1});
  while (edges.size() < kEdges) {
    const auto i = static_cast<graph::NodeId>(random.below(kNodes - 12));
    edges.push_back({i, i + 2 + static_cast<graph::NodeId>(random.below(10))});
  }
  data::Dataset set;
  set.name = "chain";
  set.graph = graph::build_graph(kNodes, edges).graph;
  set.classes = 18;
  std::vector<float> features(static_cast<size_t>(kNodes * kFeatures));
  for (float& v : features) v = static_cast<float>(random.normal());
  set.features = data::Features::dense(kNodes, kFeatures, std::move(features));
  for (graph::NodeId i = 0; i < kNodes; ++i) {
    set.labels.push_back(static_cast<int32_t>(random.below(18)));
  }
  set.splits = data::random_splits(set.labels, set.classes, {0.5, 0.25, 0.25}, 1, 0);
  return set;
}

data::Dataset load_case(const std::string& name, const std::string& folder) {
  if (name == "chain") return chain();
  if (name == "minesweeper") {
    return synth::minesweeper({.splits = 1});
  }
  const std::string path = folder + "/" + name + ".npz";
  if (!std::filesystem::exists(path)) throw_input("{}: not there; see --data", path);
  data::Dataset set = data::load_dataset(path);
  set.splits.resize(1);
  return set;
}

train::Config case_config(const Case& c, const std::string& model_name, train::Settings settings) {
  settings.merge(train::Settings{{"model", c.model != nullptr ? c.model : model_name},
                                 {"recipe", c.recipe},
                                 {"layers", fmt::format("{}", c.layers)},
                                 {"rewire", "none"},
                                 {"hidden", fmt::format("{}", c.hidden)},
                                 {"steps", fmt::format("{}", c.steps + 2)}});
  return train::resolve(settings);
}

/// Of all nodes and of all arcs, the part that a layer of a training pass computes: what it reads
/// and what it gives. As in src/nn/receptive_field.h, where nearly all counts as all.
struct Share {
  double read = 1, given = 1, arcs = 1;
};
std::vector<Share> layer_shares(const Setting& setting, int64_t layers) {
  const tensor::MessageGraph& graph = setting.input.messages->graph;
  const auto nodes = static_cast<double>(graph.nodes()), arcs = static_cast<double>(graph.arcs());
  std::vector<Share> shares(static_cast<size_t>(layers));
  std::vector<char> given(static_cast<size_t>(graph.nodes()), 0);
  for (const graph::NodeId i : setting.set.splits[0].train) given[static_cast<size_t>(i)] = 1;
  for (size_t l = shares.size(); l-- > 0;) {
    std::vector<char> read = given;
    int64_t arriving = 0;
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i] == 0) continue;
      arriving += graph.offsets()[i + 1] - graph.offsets()[i];
      for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e) {
        read[static_cast<size_t>(graph.senders()[static_cast<size_t>(e)])] = 1;
      }
    }
    const auto count = [](const std::vector<char>& flags) {
      return static_cast<double>(std::count(flags.begin(), flags.end(), 1));
    };
    shares[l].given = count(given) / nodes;
    shares[l].arcs = static_cast<double>(arriving) / arcs;
    if (l == 0 || 16 * count(read) > 15 * nodes) break;
    shares[l].read = count(read) / nodes;
    given = std::move(read);
  }
  return shares;
}

}  // namespace

Setting::Setting(const Case& c, const std::string& folder, const std::string& model_name,
                 const train::Settings& more)
    : set(load_case(c.graph, folder)), config(case_config(c, model_name, more)) {}

Timing time_steps(const Setting& setting, const train::Config& config) {
  const train::SplitTask task{config, setting.set, setting.input, 0, config.layers.first};
  const auto model = train::make_task_model(task);
  Timing timing;
  std::vector<double> seconds;
  double last = now();
  train::TrainHooks hooks;
  hooks.on_evaluation = [&](const train::StepRecord& record) {
    const double time = now();
    if (record.step > 2) seconds.push_back(time - last);  // the first two fill the pools
    last = time;
    timing.loss = record.loss;
  };
  train::train_split(task, *model, hooks);
  const auto middle = seconds.begin() + static_cast<int64_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  timing.median = *middle;
  return timing;
}

Work step_work(const nn::Model<float>& model, const Setting& setting) {
  const data::Dataset& set = setting.set;
  const auto& o = model.options();
  const auto nodes = static_cast<double>(set.graph.nodes());
  const bool residual = o.recipe == nn::Recipe::kResidual;
  std::vector<Share> shares(static_cast<size_t>(o.layers));
  if (residual) shares = layer_shares(setting, o.layers);
  const auto computed = [&](const std::string& name) {
    if (name.starts_with("output")) return shares.back().given;
    for (int64_t l = 0; l < o.layers; ++l) {
      if (!name.starts_with(fmt::format("layers.{}.", l))) continue;
      const Share& share = shares[static_cast<size_t>(l)];
      return name.find(".ffn") != std::string::npos ? share.given : share.read;
    }
    return 1.0;
  };
  Work work;
  for (const auto& entry : model.parameters().entries()) {
    const std::string& name = entry.parameter.name;
    if (entry.shape.size() != 2 || name.find("edge") != std::string::npos) continue;
    const bool input = name == "input.weight" || entry.shape[1] == set.features.cols();
    const double once = 2 * (input && set.features.is_sparse()
                                 ? static_cast<double>(set.features.nonzeros() * entry.shape[0])
                                 : nodes * static_cast<double>(entry.shape[0] * entry.shape[1]));
    work.defined += once * (input ? 3 : 4);
    work.done += once * (input ? 3 : 1 + 3 * computed(name));
  }
  const auto arcs = static_cast<double>(setting.input.messages->graph.arcs() * o.hidden);
  for (const Share& share : shares) {
    work.defined += arcs * (2 + 2 + 4);
    work.done += arcs * (2 + share.arcs * (2 + 4));
  }
  return work;
}

}  // namespace dgat::bench
