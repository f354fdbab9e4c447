// dgat predict: classes and probabilities of a trained model, on its graph or on another one.
#include "dgat/train/predict.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <ostream>

#include "../option_flags.h"
#include "../verbs.h"
#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/data/load.h"
#include "dgat/data/npz.h"
#include "dgat/study/table.h"
#include "dgat/train/inputs.h"

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
  return set.node_ids.empty() ? fmt::format("{}", i)
                              : csv_field(set.node_ids[static_cast<size_t>(i)]);
}

/// As the data set of the training names it: another one may have other names, or fewer.
std::string class_name(const train::TrainedModel& trained, int64_t c) {
  return static_cast<size_t>(c) < trained.class_names.size()
             ? csv_field(trained.class_names[static_cast<size_t>(c)])
             : fmt::format("{}", c);
}

void write_nodes_csv(const fs::path& path, const data::Dataset& set,
                     const train::TrainedModel& trained, const train::Prediction& p) {
  write_atomically(path, [&](std::ostream& out) {
    std::string line = "id,class";
    for (int64_t c = 0; c < p.class_count; ++c) line += fmt::format(",probability_{}", c);
    for (int64_t c = 0; c < p.embedding_width; ++c) line += fmt::format(",embedding_{}", c);
    out << line << '\n';
    for (size_t i = 0; i < p.classes.size(); ++i) {
      line = node_name(set, static_cast<int64_t>(i)) + "," + class_name(trained, p.classes[i]);
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
      const std::string arc = node_name(set, p.receivers[e]) + "," + node_name(set, p.senders[e]);
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

void run(const Predict& options) {
  const fs::path out = options.out;
  const bool csv = out.extension() == ".csv";
  if (!csv && out.extension() != ".npz") {
    throw_input("predict: --out {} should end in .csv or .npz", options.out);
  }
  train::TrainedModel trained = train::load_trained(options.run, options.split.value_or(0));
  const std::string where = options.data.empty() ? trained.config.data : options.data;
  if (where.empty()) throw_input("predict: {} does not say its data set; give DATA", options.run);
  const data::Dataset set = data::load_dataset(where, {.directed = trained.config.directed});
  spectral::SpectralCache cache(spectral::default_cache_folder());
  const train::Prediction p = train::predict(trained, set, cache, options.what);
  if (options.what.attention && p.attention.empty()) {
    throw_input("predict: {} has no attention to write; leave out --attention",
                trained.config.model);
  }
  Json files = Json::array({options.out});
  if (csv) {
    write_nodes_csv(out, set, trained, p);
    if (!p.attention.empty()) {
      const fs::path arcs = out.parent_path() / (out.stem().string() + "-attention.csv");
      write_attention_csv(arcs, set, p);
      files.push_back(arcs.string());
    }
  } else {
    write_npz(out, p);
  }
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
  fmt::print("{}\n{} of split {} on {}: {} nodes, written to {}\n", table.terminal(),
             trained.config.model, trained.split, set.name, p.classes.size(), options.out);
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
  verb->add_option("--out", options->out, "file to write: .csv or .npz")
      ->required()
      ->type_name("FILE");
  verb->add_flag("--embeddings", options->what.embeddings,
                 "also what the last linear map reads, one row per node");
  verb->add_flag("--attention", options->what.attention,
                 "also the attention weights per arc, layer and head (csv: FILE-attention.csv)");
  add_common_options(*verb, options->common);
  verb->footer(
      "npz: classes i64 [N], probabilities f32 [N,C], embeddings f32 [N,d], edge_index i64 [2,M]\n"
      "(receiver, sender), attention_L f32 [M,heads] for every layer L.\n"
      "  dgat predict runs/a --out predictions.csv\n"
      "  dgat predict runs/a other_graph.npz --split 3 --attention --out p.npz");
  verb->callback([options] { run(*options); });
}

}  // namespace dgat::app
