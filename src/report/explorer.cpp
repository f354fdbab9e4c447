#include "dgat/report/explorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>

#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/progress.h"
#include "dgat/graph/components.h"
#include "dgat/nn/registry.h"
#include "dgat/rewire/rewire.h"
#include "dgat/study/advise.h"
#include "dgat/study/advised_graph.h"
#include "dgat/train/directions.h"
#include "neighbourhood.h"
#include "sections.h"

namespace dgat::report {
namespace {

using graph::CsrGraph;
using graph::NodeId;

constexpr int kAlphas = 21;

/// Entries of the shown nodes, vector by vector.
template <class To>
std::vector<To> entries_of(std::span<const double> vectors, NodeId nodes,
                           const std::vector<NodeId>& shown) {
  std::vector<To> result;
  for (size_t begin = 0; begin < vectors.size(); begin += static_cast<size_t>(nodes)) {
    for (const NodeId i : shown) {
      result.push_back(static_cast<To>(vectors[begin + static_cast<size_t>(i)]));
    }
  }
  return result;
}

/// Solves the gammas in the order of their use until the time is over.
class Solver {
 public:
  Solver(const CsrGraph& graph, const train::Config& config, const ExplorerOptions& options,
         spectral::SpectralCache& cache)
      : graph_(graph), options_(options), cache_(cache), request_(train::eigen_options(config)) {
    const graph::Components components = graph::connected_components(graph);
    several_ = components.count() - components.isolated() > 1;
  }

  /// In increasing order of gamma; `first` is always there.
  std::vector<Explorer::Solved> run(const std::vector<double>& gammas, double first, Explorer& page,
                                    const std::vector<NodeId>& shown) {
    std::vector<double> order = {first};
    const auto append = [&](const std::vector<double>& more) {
      for (const double gamma : more) {
        if (std::ranges::find(gammas, gamma) == gammas.end()) continue;
        if (std::ranges::find(order, gamma) == order.end()) order.push_back(gamma);
      }
    };
    append({1.0, 0.0});
    append(study::default_gammas());
    append(gammas);
    Progress progress("explore: eigenvectors", 2 * std::ssize(order));
    std::map<double, Explorer::Solved> solved;
    for (const double gamma : order) {
      if (!solved.empty() && !affordable()) break;
      timed([&] { solved[gamma] = solve(gamma, page, shown); });
      progress.update(std::ssize(solved));
    }
    int64_t done = std::ssize(solved);
    for (const double gamma : order) {
      if (!solved.contains(gamma) || !affordable()) break;
      timed([&] { solved[gamma].second = second(gamma, shown); });
      progress.update(++done);
    }
    std::vector<Explorer::Solved> result;
    result.reserve(solved.size());
    for (auto& [gamma, one] : solved) result.push_back(std::move(one));
    align(result);
    return result;
  }

 private:
  bool affordable() const { return spent_ + longest_ <= options_.budget_seconds; }

  template <class Work>
  void timed(Work&& work) {
    throw_if_interrupted("explore");
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    spent_ += seconds;
    longest_ = std::max(longest_, seconds);
  }

  std::shared_ptr<const spectral::EigenResult> result(double gamma, int k,
                                                      spectral::ComponentPolicy policy) {
    spectral::EigenOptions request = request_;
    request.gamma = gamma;
    request.k = k;
    request.components = policy;
    return cache_.solve(graph_, request);
  }

  Explorer::Solved solve(double gamma, const Explorer& page, const std::vector<NodeId>& shown) {
    using enum spectral::ComponentPolicy;
    const auto each = result(gamma, request_.k, kEach);
    Explorer::Solved one;
    one.gamma = gamma;
    one.eigenvalue = each->eigenvalues[0];
    one.gap = each->gaps[0];
    one.multiplicity = each->repeated(0);
    one.converged = each->converged;
    one.participation_ratio =
        spectral::participation_ratio(std::span(each->vectors).first(each->mass.size()));
    one.mass.resize(page.strengths.size(), 1);
    for (size_t k = 0; k < shown.size(); ++k) {
      one.mass[static_cast<size_t>(page.strength_of[k])] =
          each->mass[static_cast<size_t>(shown[k])];
    }
    one.each = entries_of<double>(each->vectors, graph_.nodes(), shown);
    if (several_) {
      const auto other = [&](spectral::ComponentPolicy policy) {
        const auto vectors = result(gamma, request_.k, policy);
        one.converged = one.converged && vectors->converged;
        std::vector<double> entries = entries_of<double>(vectors->vectors, graph_.nodes(), shown);
        if (entries == one.each) entries.clear();
        return entries;
      };
      one.first = other(kFirst);
      one.largest = other(kLargest);
    }
    return one;
  }

  std::vector<float> second(double gamma, const std::vector<NodeId>& shown) {
    const auto pairs = result(gamma, request_.k + 1, spectral::ComponentPolicy::kEach);
    const size_t nodes = pairs->mass.size();
    return entries_of<float>(std::span(pairs->vectors).subspan(nodes, nodes), graph_.nodes(),
                             shown);
  }

  /// The sign of a vector is free: neighbouring gammas have the same one, so that nodes do not
  /// jump.
  static void align(std::vector<Explorer::Solved>& solved) {
    const std::vector<float>* before = nullptr;
    for (Explorer::Solved& one : solved) {
      if (one.second.empty()) continue;
      double product = 0;
      for (size_t i = 0; before != nullptr && i < before->size(); ++i) {
        product += double{(*before)[i]} * double{one.second[i]};
      }
      if (product < 0) {
        for (float& entry : one.second) entry = -entry;
      }
      before = &one.second;
    }
  }

  const CsrGraph& graph_;
  const ExplorerOptions& options_;
  spectral::SpectralCache& cache_;
  spectral::EigenOptions request_;
  bool several_ = false;
  double spent_ = 0, longest_ = 0;
};

void describe_nodes(const data::Dataset& dataset, const CsrGraph& graph,
                    const std::vector<int32_t>& labels, const std::vector<NodeId>& shown,
                    Explorer& page) {
  std::map<double, int32_t> place;
  for (const NodeId i : shown) place.emplace(graph.strength(i), 0);
  for (auto& [strength, number] : place) {
    number = static_cast<int32_t>(page.strengths.size());
    page.strengths.push_back(strength);
  }
  for (const NodeId i : shown) {
    page.id.push_back(i);
    if (!dataset.node_ids.empty()) page.names.push_back(dataset.node_ids[static_cast<size_t>(i)]);
    page.training_label.push_back(labels[static_cast<size_t>(i)]);
    page.strength_of.push_back(place[graph.strength(i)]);
  }
  page.class_names = class_names(dataset);
}

void connect(const CsrGraph& graph, const std::vector<NodeId>& shown, Explorer& page) {
  std::vector<int32_t> position(static_cast<size_t>(graph.nodes()), -1);
  for (size_t k = 0; k < shown.size(); ++k) {
    position[static_cast<size_t>(shown[k])] = static_cast<int32_t>(k);
  }
  for (const NodeId i : shown) {
    for (const NodeId j : graph.neighbors(i)) {
      if (j <= i || position[static_cast<size_t>(j)] < 0) continue;
      page.from.push_back(position[static_cast<size_t>(i)]);
      page.to.push_back(position[static_cast<size_t>(j)]);
    }
  }
}

Explorer::Start start_of(const CsrGraph& graph, const train::Config& config,
                         const std::vector<int32_t>& labels,
                         const std::optional<train::GraphChoice>& choice) {
  spectral::LaplacianOptions laplacian = train::laplacian_of(config);
  rewire::Mode mode = config.rewire;
  std::optional<rewire::Epsilon> epsilon = config.epsilon;
  if (choice) {
    laplacian.alpha = choice->alpha;
    laplacian.gamma = choice->gamma;
    mode = choice->mode;
    epsilon = choice->epsilon;
  }
  try {
    mode = rewire::resolve_mode(mode, graph, labels);
  } catch (const InputError&) {  // auto without edges between training nodes
    mode = {};
  }
  const bool near = mode.prune == rewire::Prune::kNear;
  const rewire::Epsilon tenth{.value = near ? 0.1 : 0.9, .quantile = true};
  return {laplacian.alpha, laplacian.gamma, rewire::to_string(mode),
          rewire::to_string(epsilon.value_or(tenth)), std::string(to_string(config.components))};
}

void add_advice(const data::Dataset& dataset, const train::Config& config, int64_t split,
                spectral::SpectralCache& cache, Explorer& page) {
  study::AdviceOptions question;
  question.components = config.components;
  question.own_features = config.recipe != nn::Recipe::kClassic;
  question.seed = config.seed;
  try {
    const study::Advice advice = study::advise(dataset, split, question, cache);
    page.advice_text = advice.reason;
    page.advice_clear = advice.clear;
    for (const study::CandidateScore& one : advice.candidates) {
      const study::Candidate& c = one.candidate;
      page.advice.push_back({c.gamma, c.alpha, one.score, rewire::to_string(c.mode),
                             c.epsilon ? rewire::to_string(*c.epsilon) : std::string()});
    }
  } catch (const InputError& error) {
    page.advice_text = fmt::format("No advice: {}", error.what());
  }
}

std::string statement(const Explorer& page, size_t wanted) {
  std::string text;
  if (page.sampled) {
    text = fmt::format(
        "A sample: {} of {} nodes with the {} of {} edges among them. φ is that of the whole "
        "graph, "
        "on the sample scaled to norm 1; every number counts the sample. ",
        grouped(std::ssize(page.id)), grouped(page.all_nodes), grouped(std::ssize(page.from)),
        grouped(page.all_edges));
  } else {
    text = "Every number counts the whole graph and equals that of `dgat rewire`. ";
  }
  if (page.gammas.size() < wanted) {
    text += fmt::format("{} of {} values of γ were solved in the time given (--budget). ",
                        page.gammas.size(), wanted);
  }
  const auto drawn = std::ranges::count_if(
      page.gammas, [](const Explorer::Solved& one) { return !one.second.empty(); });
  if (drawn == 0) {
    text +=
        "The height of a node is arbitrary: the second eigenvector was not solved in that time. ";
  } else if (drawn < std::ssize(page.gammas)) {
    text += fmt::format(
        "The second eigenvector, the height of a node, was solved for {} values of γ and is taken "
        "from the nearest one elsewhere. ",
        drawn);
  }
  return text + "Labels are those of the training nodes; the page holds no other label.";
}

}  // namespace

std::vector<double> explorer_gammas(double start) {
  std::vector<double> grid = {0,    0.001, 0.003, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1,  0.15, 0.2,
                              0.25, 0.3,   0.4,   0.5,  0.6,  0.7,  0.8,  0.9,  0.95, 1};
  if (std::ranges::find(grid, start) != grid.end()) return grid;
  const std::vector<double> advised = study::default_gammas();
  double* nearest = nullptr;
  for (double& gamma : grid) {
    if (gamma == 0 || std::ranges::find(advised, gamma) != advised.end()) continue;
    if (nearest == nullptr || std::abs(gamma - start) < std::abs(*nearest - start)) {
      nearest = &gamma;
    }
  }
  *nearest = start;
  std::ranges::sort(grid);
  return grid;
}

Explorer make_explorer(const data::Dataset& dataset, const CsrGraph& graph,
                       const train::Config& config, const ExplorerOptions& options,
                       spectral::SpectralCache& cache) {
  if (graph.directed()) {
    throw_input("explore: needs an undirected graph, {} is directed; drop --directed",
                dataset.name);
  }
  const auto splits = std::ssize(dataset.splits);
  if (options.split < 0 || options.split >= std::max<std::ptrdiff_t>(splits, 1)) {
    throw_input("explore: split {} is outside [0, {}): the splits of {}", options.split, splits,
                dataset.name);
  }
  std::vector<int32_t> labels(static_cast<size_t>(graph.nodes()), -1);
  if (splits > 0) {
    labels = rewire::training_labels(dataset.labels,
                                     dataset.splits[static_cast<size_t>(options.split)].train);
  }
  const ExplorerLimits& limits = options.limits;
  const Neighbourhood sample = choose_neighbourhood(graph, graph,
                                                    {.whole_nodes = limits.nodes,
                                                     .whole_edges = limits.edges,
                                                     .sample_nodes = limits.sample_nodes,
                                                     .sample_edges = limits.sample_edges});
  Explorer page;
  page.title = "Choose γ, α, ε and the rewiring";
  page.command = options.command;
  page.vectors = static_cast<int>(config.eigenvectors);
  page.sampled = !sample.whole;
  page.all_nodes = graph.nodes();
  page.all_edges = graph.edges();
  describe_nodes(dataset, graph, labels, sample.nodes, page);
  connect(graph, sample.nodes, page);
  page.start = start_of(graph, config, labels, options.start);
  for (int k = 0; k < kAlphas; ++k) page.alphas.push_back(k / double{kAlphas - 1});
  if (std::ranges::find(page.alphas, page.start.alpha) == page.alphas.end()) {
    page.alphas.push_back(page.start.alpha);
    std::ranges::sort(page.alphas);
  }
  const std::vector<double> gammas = explorer_gammas(page.start.gamma);
  page.gammas =
      Solver(graph, config, options, cache).run(gammas, page.start.gamma, page, sample.nodes);
  if (options.advise) {
    add_advice(dataset, config, options.split, cache, page);
  } else {
    page.advice_text = "Not computed for this page; `dgat explore` without --no-advice adds it.";
  }
  page.note = statement(page, gammas.size());
  return page;
}

Page explorer_page(const data::Dataset& dataset, const train::Config& config,
                   const ExplorerOptions& options, spectral::SpectralCache& cache) {
  if (!nn::find_model(config.model).directional) {
    throw_input("explore: {} has no directions, so gamma and rewiring have no effect on it",
                config.model);
  }
  study::refuse_authors_laplacian("explore", config);
  ExplorerOptions shown = options;
  if (!shown.start && config.rewire.advised && !dataset.splits.empty()) {
    shown.start = study::advised_graph(dataset, options.split, config, cache).graph;
  }
  Explorer explorer = make_explorer(dataset, dataset.graph, config, shown, cache);
  std::string subtitle =
      fmt::format("{} nodes, {} edges, {} classes", grouped(dataset.graph.nodes()),
                  grouped(dataset.graph.edges()), dataset.classes_present());
  if (!dataset.splits.empty()) {
    subtitle +=
        fmt::format("; labels of the {} training nodes of split {}",
                    grouped(std::ssize(dataset.splits[static_cast<size_t>(options.split)].train)),
                    options.split);
  }
  return {fmt::format("γ explorer: {}", dataset.name), subtitle, {{"Explorer", "", {explorer}}}};
}

}  // namespace dgat::report
