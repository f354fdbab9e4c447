// dgat predict: classes and probabilities of a trained model, on its graph or on another one.
#include "dgat/train/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <ostream>
#include <utility>

#include "../option_flags.h"
#include "../table_output.h"
#include "../verbs.h"
#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/data/graphml.h"
#include "dgat/data/load.h"
#include "dgat/data/npz.h"
#include "dgat/nn/registry.h"
#include "dgat/study/table.h"
#include "dgat/train/directions.h"
#include "dgat/train/inputs.h"
#include "dgat/train/node_features.h"

namespace dgat::app {
namespace {
namespace fs = std::filesystem;

struct Predict {
  CommonOptions common;
  std::string run, data, out;
  std::optional<int64_t> split;
  train::PredictOptions what;
};

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string node_name(const data::Dataset& set, int64_t i) {
  return set.node_ids.empty() ? fmt::format("{}", i) : set.node_ids[static_cast<size_t>(i)];
}

/// As the data set of the training names it: another one may have other names, or fewer.
std::string class_name(const train::TrainedModel& trained, int64_t c) {
  return static_cast<size_t>(c) < trained.class_names.size()
             ? trained.class_names[static_cast<size_t>(c)]
             : fmt::format("{}", c);
}

void write_nodes_csv(const fs::path& path, const data::Dataset& set,
                     const train::TrainedModel& trained, const train::Prediction& p) {
  write_atomically(path, [&](std::ostream& out) {
    std::string line = "id,class";
    for (int64_t c = 0; c < p.class_count; ++c) {
      line += "," + csv_field("probability_" + class_name(trained, c));
    }
    for (int64_t c = 0; c < p.embedding_width; ++c) line += fmt::format(",embedding_{}", c);
    out << line << '\n';
    for (size_t i = 0; i < p.classes.size(); ++i) {
      line = csv_field(node_name(set, static_cast<int64_t>(i))) + "," +
             csv_field(class_name(trained, p.classes[i]));
      const auto add = [&](const std::vector<float>& values, int64_t width) {
        for (int64_t c = 0; c < width; ++c) {
          line +=
              fmt::format(",{}", values[i * static_cast<size_t>(width) + static_cast<size_t>(c)]);
        }
      };
      add(p.probabilities, p.class_count);
      add(p.embeddings, p.embedding_width);
      out << line << '\n';
    }
  });
}

void write_attention_csv(const fs::path& path, const data::Dataset& set,
                         const train::Prediction& p) {
  write_atomically(path, [&](std::ostream& out) {
    out << "receiver,sender,layer,head,weight\n";
    for (size_t e = 0; e < p.receivers.size(); ++e) {
      const std::string arc =
          csv_field(node_name(set, p.receivers[e])) + "," + csv_field(node_name(set, p.senders[e]));
      for (size_t l = 0; l < p.attention.size(); ++l) {
        const auto heads = static_cast<size_t>(p.attention[l].heads);
        for (size_t h = 0; h < heads; ++h) {
          out << fmt::format("{},{},{},{}\n", arc, l, h, p.attention[l].weights[e * heads + h]);
        }
      }
    }
  });
}

void write_npz(const fs::path& path, const train::Prediction& p) {
  const auto n = static_cast<int64_t>(p.classes.size());
  data::NpzWriter out(path);
  out.add("classes", {n}, std::span<const int64_t>(p.classes));
  out.add("probabilities", {n, p.class_count}, std::span<const float>(p.probabilities));
  if (p.embedding_width > 0) {
    out.add("embeddings", {n, p.embedding_width}, std::span<const float>(p.embeddings));
  }
  if (!p.attention.empty()) {
    const auto arcs = static_cast<int64_t>(p.receivers.size());
    std::vector<int64_t> index = p.receivers;
    index.insert(index.end(), p.senders.begin(), p.senders.end());
    out.add("edge_index", {2, arcs}, std::span<const int64_t>(index));
    for (size_t l = 0; l < p.attention.size(); ++l) {
      out.add(fmt::format("attention_{}", l), {arcs, p.attention[l].heads},
              std::span<const float>(p.attention[l].weights));
    }
  }
  out.finish();
}

/// Of the last layer, averaged over heads and both directions; 0 for an edge that rewiring dropped.
std::vector<double> edge_attention(const std::vector<graph::Edge>& edges,
                                   const train::Prediction& p) {
  const train::Prediction::Layer& layer = p.attention.back();
  const auto heads = static_cast<size_t>(layer.heads);
  std::map<std::pair<int64_t, int64_t>, double> of_arc;
  for (size_t e = 0; e < p.receivers.size(); ++e) {
    const float* first = layer.weights.data() + e * heads;
    of_arc[{p.receivers[e], p.senders[e]}] =
        std::accumulate(first, first + heads, 0.0) / static_cast<double>(heads);
  }
  std::vector<double> values;
  for (const auto [from, to] : edges) {
    const auto there = of_arc.find({to, from}), back = of_arc.find({from, to});
    values.push_back(
        ((there == of_arc.end() ? 0 : there->second) + (back == of_arc.end() ? 0 : back->second)) /
        2);
  }
  return values;
}

/// The graph with class, prediction, probability, phi and attention, for Gephi and Cytoscape.
void write_predicted_graph(const fs::path& path, const data::Dataset& set,
                           const train::TrainedModel& trained, const train::Prediction& p,
                           spectral::SpectralCache& cache) {
  data::Dataset shown;
  shown.graph = set.graph;
  shown.labels = set.labels;
  shown.classes = set.classes;
  shown.class_names = set.class_names;
  shown.node_ids = set.node_ids;
  data::GraphmlColumn predicted{.name = "prediction", .numbers = {}, .texts = {}},
      probability{.name = "probability", .numbers = {}, .texts = {}};
  for (size_t i = 0; i < p.classes.size(); ++i) {
    const auto c = static_cast<size_t>(p.classes[i]);
    predicted.texts.push_back(c < trained.class_names.size() ? trained.class_names[c]
                                                             : std::to_string(c));
    probability.numbers.push_back(p.probabilities[i * static_cast<size_t>(p.class_count) + c]);
  }
  data::GraphmlExtras extras{.nodes = {predicted, probability}, .edges = {}};
  if (nn::find_model(trained.config.model).directional) {
    const train::Directions directions(set.graph, trained.config, trained.graph, cache);
    const auto phi = directions.phi().vector(0);
    extras.nodes.push_back({.name = "phi", .numbers = {phi.begin(), phi.end()}, .texts = {}});
  }
  if (!p.attention.empty()) {
    extras.edges.push_back(
        {.name = "attention", .numbers = edge_attention(set.graph.edge_list(), p), .texts = {}});
  }
  data::write_graphml(shown, path, extras);
}

/// Writes what was asked for; the names of the files.
std::vector<std::string> write_files(const fs::path& out, const data::Dataset& set,
                                     const train::TrainedModel& trained, const train::Prediction& p,
                                     spectral::SpectralCache& cache) {
  if (out.empty()) return {};
  std::vector<std::string> files = {out.string()};
  if (out.extension() == ".npz") {
    write_npz(out, p);
    return files;
  }
  if (out.extension() == ".graphml") {
    write_predicted_graph(out, set, trained, p, cache);
    return files;
  }
  write_nodes_csv(out, set, trained, p);
  if (!p.attention.empty()) {
    const fs::path arcs = out.parent_path() / (out.stem().string() + "-attention.csv");
    write_attention_csv(arcs, set, p);
    files.push_back(arcs.string());
  }
  return files;
}

/// The first nodes with their class and its probability.
study::Table first_nodes(const data::Dataset& set, const train::TrainedModel& trained,
                         const train::Prediction& p) {
  constexpr size_t kShownNodes = 10;
  study::Table table = study::Table::of({"node", "class", "probability"});
  for (size_t i = 0; i < std::min(kShownNodes, p.classes.size()); ++i) {
    const size_t at = i * static_cast<size_t>(p.class_count) + static_cast<size_t>(p.classes[i]);
    table.row({node_name(set, static_cast<int64_t>(i)), class_name(trained, p.classes[i]),
               fmt::format("{:.3f}", p.probabilities[at])});
  }
  return table;
}

void run(const Predict& options) {
  const fs::path out = options.out;
  const fs::path kind = out.extension();
  if (!out.empty() && kind != ".csv" && kind != ".npz" && kind != ".graphml") {
    throw_input("predict: --out {} should end in .csv, .npz or .graphml", options.out);
  }
  train::TrainedModel trained = train::load_trained(options.run, options.split.value_or(0));
  const std::string where = options.data.empty() ? trained.config.data : options.data;
  if (where.empty()) throw_input("predict: {} does not name its data set; give DATA", options.run);
  refuse_input(options.out, where);
  data::Dataset set = data::load_dataset(where, {.directed = trained.config.directed});
  spectral::SpectralCache cache(spectral::default_cache_folder());
  train::make_node_features(set, trained.config.features, cache);
  const train::Prediction p = train::predict(trained, set, cache, options.what);
  if (options.what.attention && p.attention.empty()) {
    throw_input("predict: {} has no attention to write; leave out --attention",
                trained.config.model);
  }
  const std::vector<std::string> files = write_files(out, set, trained, p, cache);
  std::vector<int64_t> sizes(static_cast<size_t>(p.class_count), 0);
  for (const int64_t c : p.classes) ++sizes[static_cast<size_t>(c)];
  if (options.common.json) {
    print_json({{"model", trained.config.model},
                {"dataset", set.name},
                {"split", trained.split},
                {"nodes", p.classes.size()},
                {"predicted", sizes},
                {"files", files}});
    return;
  }
  study::Table table = study::Table::of({"class", "nodes"});
  for (int64_t c = 0; c < p.class_count; ++c) {
    table.row({class_name(trained, c), fmt::format("{}", sizes[static_cast<size_t>(c)])});
  }
  if (out.empty()) fmt::print("{}\n", on_screen(first_nodes(set, trained, p)));
  fmt::print(
      "{}\n{} of split {} on {}: {} nodes, {}\n", on_screen(table), trained.config.model,
      trained.split, set.name, p.classes.size(),
      out.empty() ? "the first shown; --out FILE.csv writes all" : "written to " + options.out);
}

}  // namespace

void add_predict(CLI::App& app) {
  auto options = std::make_shared<Predict>();
  CLI::App* verb = app.add_subcommand("predict", "Apply a trained model to a graph");
  verb->add_option("RUN", options->run, "folder of `dgat train`, or one of its weight files")
      ->required();
  verb->add_option("DATA", options->data,
                   "another graph with the same features; default: the one of training");
  add_split_number(*verb, options->split, "whose weights are used");
  verb->add_option("--out", options->out,
                   "file to write: .csv, .npz or .graphml; without it, the first rows are printed")
      ->type_name("FILE");
  verb->add_flag("--embeddings", options->what.embeddings,
                 "also write the embeddings, the input of the last linear map, a row per node");
  verb->add_flag("--attention", options->what.attention,
                 "also write the attention weights per arc, layer and head (csv: "
                 "FILE-attention.csv)");
  add_common_options(*verb, options->common);
  verb->footer(
      "csv: id, class, probability_CLASS for every class, by the names of the data set.\n"
      "npz: classes i64 [N], probabilities f32 [N,C], embeddings f32 [N,d], edge_index i64 [2,M]\n"
      "(receiver, sender), attention_L f32 [M,heads] for every layer L.\n"
      "graphml: class, prediction, probability, phi; attention of the last layer on edges.\n"
      "  dgat predict runs/a\n"
      "  dgat predict runs/a --out predictions.csv\n"
      "  dgat predict runs/a other_graph.npz --split 3 --attention --out p.npz");
  verb->callback([options] { run(*options); });
}

}  // namespace dgat::app
