#include "dgat/study/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "advice_text.h"
#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/parallel.h"
#include "dgat/core/progress.h"
#include "dgat/graph/homophily.h"
#include "dgat/rewire/edge_features.h"
#include "edge_labels.h"
#include "message_hash.h"
#include "probe.h"
#include "ridge.h"

namespace dgat::study {
namespace {

using graph::NodeId;

/// Graphs with more arcs are worked on one after another, with all threads inside each.
constexpr int64_t kLargeGraph = int64_t{1} << 20;
/// Features of more nodes are reduced to fewer columns.
constexpr int64_t kEntries = int64_t{1} << 22, kNarrowest = 8;

/// Small networks that explain less of the labels than this say little about trained ones: on
/// squirrel and squirrel_filtered their choice is wrong (docs/advise.md).
constexpr double kEnoughExplained = 0.1;

/// A candidate with what only the ranking needs.
struct Judged {
  CandidateScore score;
  MessageHash hash{};
  std::vector<double> errors;
};

class Adviser {
 public:
  Adviser(const data::Dataset& dataset, int64_t split, const AdviceOptions& options,
          spectral::SpectralCache& cache)
      : dataset_(dataset), options_(options) {
    check(split);
    const data::Split& parts = dataset.splits[static_cast<size_t>(split)];
    labels_ = rewire::training_labels(dataset.labels, parts.train);
    for (const NodeId i : parts.train) {
      if (labels_[static_cast<size_t>(i)] < 0) continue;
      nodes_.push_back(i);
      node_labels_.push_back(labels_[static_cast<size_t>(i)]);
    }
    check_labels(split);
    folds_ = stratified_folds(node_labels_, dataset.classes, options.folds, options.seed);
    const int64_t width = std::clamp<int64_t>(
        kEntries / std::max<int64_t>(dataset.graph.nodes(), 1), kNarrowest, options.width);
    probes_.emplace(reduce_features(dataset.features, width, options.seed), options.own_features,
                    options.seed);
    Progress progress("advise: eigenvectors", std::ssize(options.gammas));
    for (const double gamma : options.gammas) {
      progress.update(std::ssize(spectra_));
      solve(gamma, cache);
    }
    solve(1.0, cache);
  }

  Advice run(int64_t split) {
    Advice advice;
    advice.dataset = dataset_.name;
    advice.split = split;
    advice.training_nodes = std::ssize(nodes_);
    advice.metric = dataset_.metric();
    advice.adjusted_homophily =
        graph::measure_homophily(dataset_.graph, labels_, dataset_.classes).adjusted_edge;
    std::vector<Candidate> grid = {{}};  // the reference comes first
    for (const double gamma : options_.gammas) {
      for (const Rewiring& r : options_.rewirings) {
        grid.push_back({gamma, options_.alphas.front(), r.mode, r.epsilon});
      }
    }
    std::vector<Judged> judged = evaluate(grid);
    const Judged reference = std::move(judged.front());
    judged.erase(judged.begin());
    add_other_alphas(judged);
    compare(judged, reference);
    advice.reference = reference.score;
    for (const Judged& one : judged) advice.candidates.push_back(one.score);
    std::stable_sort(advice.candidates.begin(), advice.candidates.end(),
                     [](const auto& a, const auto& b) { return a.score > b.score; });
    for (const double gamma : options_.gammas) advice.gammas.push_back(describe(gamma, advice));
    std::stable_sort(advice.gammas.begin(), advice.gammas.end(),
                     [](const auto& a, const auto& b) { return a.score > b.score; });
    const double chance =
        std::sqrt(2 * std::log(static_cast<double>(advice.candidates.size()) + 1));
    advice.clear = advice.best().score >= kEnoughExplained &&
                   advice.best().gain > std::max(2.0, chance) * advice.best().error;
    advice.reason = explain(advice, options_);
    advice.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return advice;
  }

 private:
  void check(int64_t split) const {
    if (dataset_.graph.directed()) {
      throw_input("advise: needs an undirected graph, {} is directed; drop --directed",
                  dataset_.name);
    }
    if (dataset_.features.empty()) {
      throw_input("advise: {} has no node features, which the score needs", dataset_.name);
    }
    if (split < 0 || split >= std::ssize(dataset_.splits)) {
      throw_input("advise: split {} is outside [0, {}): the splits of {}", split,
                  dataset_.splits.size(), dataset_.name);
    }
    if (options_.gammas.empty() || options_.alphas.empty() || options_.rewirings.empty()) {
      throw_input("advise: nothing to choose from; name at least one gamma and one rewiring");
    }
    if (options_.folds < 2) throw_input("advise: at least 2 folds are needed");
  }

  void check_labels(int64_t split) const {
    const std::set<int32_t> present(node_labels_.begin(), node_labels_.end());
    if (!can_advise(dataset_, dataset_.splits[static_cast<size_t>(split)], options_)) {
      throw_input(
          "advise: split {} of {} has {} labelled training nodes of {} classes; at least {} nodes "
          "of two classes are needed",
          split, dataset_.name, nodes_.size(), present.size(), options_.folds);
    }
  }

  void solve(double gamma, spectral::SpectralCache& cache) {
    throw_if_interrupted("advise");
    if (spectra_.contains(gamma)) return;
    spectral::EigenOptions request;
    request.gamma = gamma;
    request.components = options_.components;
    request.seed = options_.seed;
    spectra_[gamma] = cache.solve(dataset_.graph, request);
  }

  std::vector<Judged> evaluate(const std::vector<Candidate>& candidates) const {
    std::vector<Judged> judged(candidates.size());
    const auto count = std::ssize(candidates);
    const auto judge = [&](int64_t c) {
      throw_if_interrupted("advise");
      judged[static_cast<size_t>(c)] = evaluate(candidates[static_cast<size_t>(c)]);
    };
    if (dataset_.graph.arcs() > kLargeGraph) {
      Progress progress("advise: candidates", count);
      for (int64_t c = 0; c < count; ++c) {
        judge(c);
        progress.update(c + 1);
      }
    } else {
      parallel_for(count, 1, [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) judge(c);
      });
    }
    return judged;
  }

  Judged evaluate(const Candidate& candidate) const {
    const std::vector<double> vector = spectra_.at(candidate.gamma)->phi(candidate.alpha);
    const spectral::NodeVectors phi(vector);
    rewire::RewireOptions request{.mode = candidate.mode, .epsilon = candidate.epsilon};
    request.per_component = options_.components == spectral::ComponentPolicy::kEach;
    const rewire::RewireResult rewired = rewire::rewire(dataset_.graph, phi, request, labels_);
    const rewire::MessageGraph messages = options_.directional
                                              ? rewire::message_graph(rewired.graph, phi)
                                              : rewire::message_graph(rewired.graph);
    HeldOut held = cross_validate(messages);
    Judged one;
    one.score.candidate = candidate;
    one.score.score = held.explained;
    one.score.metric = held.metric;
    one.score.report = rewired.report;
    const EdgeChange change =
        compare_edges(dataset_.graph, rewired.graph, labels_, dataset_.classes);
    one.score.kept = change.kept;
    one.score.dropped = change.dropped;
    one.score.added = change.added;
    one.hash = hash_messages(messages);
    one.errors = std::move(held.errors);
    return one;
  }

  /// The mean over the probes.
  HeldOut cross_validate(const rewire::MessageGraph& messages) const {
    HeldOut mean;
    mean.errors.resize(nodes_.size());
    const std::vector<Rows> rows = probes_->run(messages, nodes_);
    const double share = 1.0 / static_cast<double>(rows.size());
    for (const Rows& probe : rows) {
      const HeldOut held =
          study::cross_validate(probe, node_labels_, dataset_.classes, folds_, dataset_.metric());
      mean.explained += share * held.explained;
      mean.metric += share * held.metric;
      for (size_t i = 0; i < mean.errors.size(); ++i) mean.errors[i] += share * held.errors[i];
    }
    return mean;
  }

  /// The other alphas with the best rewiring of every gamma, or with every rewiring.
  void add_other_alphas(std::vector<Judged>& judged) const {
    std::vector<Candidate> more;
    const auto columns = std::ssize(options_.rewirings);
    for (auto row = judged.cbegin(); row != judged.cend(); row += columns) {  // one gamma
      const auto best = std::max_element(row, row + columns, [](const Judged& a, const Judged& b) {
        return a.score.score < b.score.score;
      });
      for (auto one = row; one != row + columns; ++one) {
        if (one != best && !options_.every_alpha) continue;
        for (size_t a = 1; a < options_.alphas.size(); ++a) {
          more.push_back(one->score.candidate);
          more.back().alpha = options_.alphas[a];
        }
      }
    }
    for (Judged& other : evaluate(more)) judged.push_back(std::move(other));
  }

  /// Gains over the reference with their standard errors, node by node; repeats are marked.
  static void compare(std::vector<Judged>& judged, const Judged& reference) {
    double total = 0;  // squared error of predicting class shares
    for (const double e : reference.errors) total += e;
    total /= 1 - reference.score.score;
    std::set<MessageHash> seen;
    const auto n = static_cast<double>(reference.errors.size());
    for (Judged& one : judged) {
      double sum = 0, squares = 0;
      for (size_t i = 0; i < reference.errors.size(); ++i) {
        const double difference = reference.errors[i] - one.errors[i];
        sum += difference;
        squares += difference * difference;
      }
      one.score.gain = sum / total;
      const double spread = std::max(0.0, squares - sum * sum / n);
      one.score.error = std::sqrt(spread * n / (n - 1)) / total;
      one.score.repeated = !seen.insert(one.hash).second;
    }
  }

  GammaScore describe(double gamma, const Advice& advice) const {
    const spectral::EigenResult& spectrum = *spectra_.at(gamma);
    const std::vector<double> phi = spectrum.phi(options_.alphas.front());
    GammaScore result;
    result.gamma = gamma;
    result.score = -std::numeric_limits<double>::infinity();
    for (const CandidateScore& c : advice.candidates) {
      if (c.candidate.gamma == gamma) result.score = std::max(result.score, c.score);
    }
    result.eigenvalue = spectrum.eigenvalues.front();
    result.gap = spectrum.gaps.front();
    result.multiplicity = spectrum.multiplicity.front();
    result.converged = spectrum.converged;
    result.participation_ratio = spectral::participation_ratio(phi);
    result.class_share = class_share(phi, labels_, dataset_.classes);
    return result;
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const data::Dataset& dataset_;
  const AdviceOptions& options_;
  std::vector<int32_t> labels_, node_labels_;  // of all nodes (-1: not training), of nodes_
  std::vector<NodeId> nodes_;
  std::vector<int> folds_;
  std::optional<Probes> probes_;
  std::map<double, std::shared_ptr<const spectral::EigenResult>> spectra_;
};

}  // namespace

std::vector<double> default_gammas() {
  return {0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 1};
}

std::vector<Rewiring> default_rewirings() {
  std::vector<Rewiring> all = {
      {rewire::parse_mode("none")}, {rewire::parse_mode("hub")}, {rewire::parse_mode("add")}};
  for (const char* mode : {"prune-near", "prune-far", "prune-far+add"}) {
    for (const char* epsilon : {"q0.1", "q0.5", "q0.9"}) {
      all.push_back({rewire::parse_mode(mode), rewire::parse_epsilon(epsilon)});
    }
  }
  return all;
}

bool can_advise(const data::Dataset& dataset, const data::Split& split,
                const AdviceOptions& options) {
  int64_t labelled = 0;
  std::set<int32_t> classes;
  for (const NodeId i : split.train) {
    const int32_t label = dataset.labels[static_cast<size_t>(i)];
    if (label < 0) continue;
    ++labelled;
    classes.insert(label);
  }
  return labelled >= options.folds && classes.size() >= 2;
}

Advice advise(const data::Dataset& dataset, int64_t split, const AdviceOptions& options,
              spectral::SpectralCache& cache) {
  return Adviser(dataset, split, options, cache).run(split);
}

}  // namespace dgat::study
