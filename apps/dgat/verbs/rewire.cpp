// dgat rewire: prune and add edges along the first eigenvector, and describe the edges' directions.
#include "dgat/rewire/rewire.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "../data_options.h"
#include "../table_output.h"
#include "../verbs.h"
#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/data/npz_dataset.h"
#include "dgat/rewire/edge_features.h"
#include "dgat/spectral/eigensolver.h"
#include "dgat/spectral/laplacian.h"
#include "dgat/study/advised_graph.h"
#include "dgat/study/table.h"
#include "dgat/train/directions.h"
#include "dgat/train/node_features.h"

namespace dgat::app {
namespace {

struct Rewire {
  CommonOptions common;
  DataOptions data;
  std::string solver = "auto", out;
  bool overwrite = false;
};

/// The labels that rewiring may see. A data set without splits shows none of them.
std::vector<int32_t> visible_labels(const data::Dataset& set, int64_t split) {
  if (set.splits.empty()) return std::vector<int32_t>(set.labels.size(), -1);
  if (split >= static_cast<int64_t>(set.splits.size())) {
    throw_input("rewire: --split {} is outside [0, {}): the splits of {}", split, set.splits.size(),
                set.name);
  }
  return rewire::training_labels(set.labels, set.splits[static_cast<size_t>(split)].train);
}

/// The data set; with splits where the mode needs them and there are labels to make them from.
data::Dataset load_with_splits(const train::Config& config) {
  data::Dataset set = load(config);
  const bool asks = config.rewire.automatic || config.rewire.advised;
  if (config.rewire.automatic && set.classes_present() == 0) {
    throw_input("rewire: auto reads training labels and {} has none; name a mode", set.name);
  }
  if (asks && set.splits.empty() && set.classes_present() > 0) {
    data::apply_split_options(set, train::load_options(config, /*needs_splits=*/true).splits);
  }
  return set;
}

/// The graph that `dgat train` uses on this split.
train::GraphChoice choose(const data::Dataset& set, int64_t split, const train::Config& config) {
  train::GraphChoice choice = train::graph_of(config);
  if (!config.rewire.advised) return choice;
  study::AdvisedGraph advised{choice, false, "there are no training labels"};
  advised.graph.mode = {};
  if (!set.splits.empty()) {
    spectral::SpectralCache cache(spectral::default_cache_folder());
    data::Dataset seen = set;  // what is written keeps its own features
    train::make_node_features(seen, config.features, cache);
    advised = study::advised_graph(seen, split, config, cache);
  }
  notice(fmt::format("rewire: graph as advised: {}", study::describe({{split, advised}})));
  return advised.graph;
}

spectral::EigenResult solve(const graph::CsrGraph& graph, const train::Config& config, double gamma,
                            const std::string& solver) {
  spectral::EigenOptions request = train::eigen_options(config);
  request.gamma = gamma;
  request.solver = spectral::solver_from(solver);
  spectral::EigenResult result = spectral::solve_spectrum(graph, request);
  if (!result.converged) {
    throw_compute(
        "rewire: the eigenvectors did not converge (worst residual {:.1e}); `dgat spectrum` shows "
        "more, --solver chooses another method",
        *std::max_element(result.residuals.begin(), result.residuals.end()));
  }
  if (result.multiplicity[0] > 1) {
    notice(
        "rewire: the smallest eigenvalue is multiple; phi is one choice of several, the same on "
        "every run");
  }
  return result;
}

/// The data set on its new edges, and the graph that attention runs on.
void write_archive(const std::string& path, const data::Dataset& set,
                   const rewire::MessageGraph& messages) {
  const int64_t arcs = messages.arcs();
  std::vector<int64_t> index(static_cast<size_t>(2 * arcs));
  for (int64_t i = 0; i < messages.nodes(); ++i) {
    std::fill(index.begin() + messages.offsets[static_cast<size_t>(i)],
              index.begin() + messages.offsets[static_cast<size_t>(i) + 1], i);
  }
  std::copy(messages.senders.begin(), messages.senders.end(), index.begin() + arcs);
  data::NpzWriter archive(path);
  data::add_dataset(archive, set);
  archive.add("edge_index", {2, arcs}, std::span<const int64_t>(index));
  archive.add("edge_attr", {arcs, messages.feature_count},
              std::span<const float>(messages.features));
  archive.finish();
}

Json number_or_null(double value) {
  return std::isnan(value) ? Json() : Json(value);
}

void print_report(const rewire::RewireReport& report, const data::Dataset& set) {
  const auto share = [](double value) {
    return std::isnan(value) ? std::string("-") : fmt::format("{:.4f}", value);
  };
  const bool pruned = report.mode.prune != rewire::Prune::kNone;
  fmt::print("{}: {}{}\n\n", set.name, to_string(report.mode),
             pruned ? fmt::format(", epsilon {:.4g}", report.epsilon) : "");
  study::Table table = study::Table::of({"", "before", "dropped", "added", "after"});
  table.row({"edges", fmt::to_string(report.edges_before), fmt::to_string(report.dropped),
             fmt::to_string(report.added), fmt::to_string(report.edges_after)});
  table.row({"components", fmt::to_string(report.components_before), "", "",
             fmt::to_string(report.components_after)});
  table.row({"nodes without neighbours", fmt::to_string(report.isolated_before), "", "",
             fmt::to_string(report.isolated_after)});
  table.row({"edge homophily (training labels)", share(report.homophily_before), "", "",
             share(report.homophily_after)});
  fmt::print("{}", on_screen(table));
}

void run(const Rewire& options) {
  const train::Config config = config_of(options.data, options.common);
  check_output(options.out, config.data, options.overwrite);
  note_ignored("rewire", options.data.settings, config);
  data::Dataset set = load_with_splits(config);
  const int64_t split = options.data.split.value_or(0);
  const std::vector<int32_t> labels = visible_labels(set, split);
  const train::GraphChoice choice = choose(set, split, config);
  const rewire::RewireOptions request{
      .mode = choice.mode,
      .epsilon = choice.epsilon,
      .per_component = config.components == spectral::ComponentPolicy::kEach};
  const spectral::EigenResult pairs = solve(set.graph, config, choice.gamma, options.solver);
  const std::vector<double> vectors = pairs.phi(choice.alpha);
  const spectral::NodeVectors phi(vectors, set.graph.nodes(), pairs.k);
  const double share = spectral::participation_ratio(phi.vector(0));
  if (set.graph.edges() > 0 && share < spectral::kLocalised) {
    notice(fmt::format(
        "rewire: the eigenvector is concentrated on {:.2g}% of the nodes; try another --gamma",
        100 * share));
  }
  auto [graph, report] = rewire::rewire(set.graph, phi, request, labels);
  set.graph = std::move(graph);
  if (!options.out.empty()) {
    write_archive(options.out, set, rewire::message_graph(set.graph, phi));
  }
  if (!options.common.json) {
    print_report(report, set);
    return;
  }
  print_json({{"dataset", set.name},
              {"alpha", choice.alpha},
              {"gamma", choice.gamma},
              {"mode", to_string(report.mode)},
              {"epsilon", report.epsilon},
              {"eigenvalues", pairs.eigenvalues},
              {"participation_ratio", share},
              {"edges_before", report.edges_before},
              {"dropped", report.dropped},
              {"added", report.added},
              {"edges_after", report.edges_after},
              {"isolated_before", report.isolated_before},
              {"isolated_after", report.isolated_after},
              {"components_before", report.components_before},
              {"components_after", report.components_after},
              {"homophily_before", number_or_null(report.homophily_before)},
              {"homophily_after", number_or_null(report.homophily_after)}});
}

}  // namespace

void add_rewire(CLI::App& app) {
  auto options = std::make_shared<Rewire>();
  CLI::App* verb = app.add_subcommand(
      "rewire", "Prune and add edges by spectral distance; make directional edge features");
  add_data_options(*verb, options->data, "whose training labels count");
  add_option_flags(*verb, options->data.settings,
                   {"laplacian", "alpha", "gamma", "eigenvectors", "components", "rewire",
                    "epsilon", "recipe", "directional", "features"});
  verb->add_option("--solver", options->solver, "eigensolver, see `dgat spectrum --help`")
      ->capture_default_str();
  verb->add_option(
          "--out", options->out,
          ".npz to write: the data set with its new edges, and edge_index [2, M] (receiver, "
          "sender, self loops included) and edge_attr [M, 2k]")
      ->check(npz_name);
  add_overwrite(*verb, options->overwrite);
  add_common_options(*verb, options->common);
  verb->footer(
      "With d = |phi_i - phi_j|, the distance of two nodes along the first eigenvector:\n"
      "  prune-near  drops edges with d < epsilon   (neighbours agree: homophily)\n"
      "  prune-far   drops edges with d > epsilon   (neighbours differ: heterophily)\n"
      "  add         joins every node to the node with the largest or smallest phi, the farther "
      "one\n"
      "  hub         joins every node to the node with the largest phi in its component\n"
      "  advised     the graph that `dgat advise` finds clearly better on the training nodes of\n"
      "              the split, with its gamma and alpha unless they are given; if there is none,\n"
      "              no edge changes\n"
      "  auto        prune-near if the adjusted homophily of the edges between training nodes is\n"
      "              at least 0.5, else prune-far+add\n"
      "Columns of edge_attr: |g| and g for each eigenvector, g the row-normalised slope of phi.\n"
      "  dgat rewire graph.npz --rewire prune-far+add --epsilon q0.8 --gamma 0.3 --out new.npz");
  verb->callback([options] { run(*options); });
}

}  // namespace dgat::app
