#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dgat/data/dataset.h"
#include "dgat/rewire/options.h"
#include "dgat/rewire/rewire.h"
#include "dgat/spectral/cache.h"
#include "dgat/train/config.h"

/// Guidance for gamma, alpha and the rewiring without training anything.
namespace dgat::study {

/// One graph that attention may run on; never automatic.
using Candidate = train::GraphChoice;

struct Rewiring {
  rewire::Mode mode;
  std::optional<rewire::Epsilon> epsilon = std::nullopt;
};
/// none, hub, add, and prune-near, prune-far, prune-far+add at q0.1, q0.5 and q0.9.
std::vector<Rewiring> default_rewirings();
/// 0.01 to 1, three or four to a decade.
std::vector<double> default_gammas();

struct AdviceOptions {
  std::vector<double> gammas = default_gammas();
  /// The first is used throughout, the others with the best rewiring of every gamma.
  std::vector<double> alphas = {1, 0.5, 0};
  bool every_alpha = false;  ///< the other alphas with every rewiring, not only with the best
  std::vector<Rewiring> rewirings = default_rewirings();
  spectral::ComponentPolicy components = spectral::ComponentPolicy::kEach;
  /// Whether the network keeps a node's own features beside the message (residual blocks, -sep).
  /// Without them (recipe classic), a node keeps its own features only where edges are dropped.
  bool own_features = true;
  bool directional = true;  ///< whether edge features enter the attention scores
  int folds = 5;            ///< of the cross-validation inside the training nodes
  int64_t width = 64;       ///< columns of wide features (fewer above 65,536 nodes)
  uint64_t seed = 0;        ///< of folds, reduction, and the choice inside a repeated eigenvalue
};

/// The labels at the ends of a set of edges; only edges between training nodes count.
struct EdgeLabels {
  int64_t edges = 0;
  double agreement = 0;        ///< share of equal labels; NaN without edges
  double informativeness = 0;  ///< label informativeness; NaN without edges or with one class
};

struct CandidateScore {
  Candidate candidate;
  double score = 0;   ///< share of the variance of the labels predicted on held-out training nodes
  double metric = 0;  ///< accuracy or ROC AUC of those predictions
  double gain = 0;    ///< score minus that of the graph as it is (gamma 1, no rewiring)
  double error = 0;   ///< standard error of gain, paired over nodes
  bool repeated = false;  ///< the same graph and directions as an earlier candidate
  rewire::RewireReport report;
  EdgeLabels kept, dropped, added;
};

/// What phi looks like at one gamma, and the best that was found there.
struct GammaScore {
  double gamma = 0;
  double score = 0;  ///< of its best candidate
  double eigenvalue = 0, gap = 0;
  double participation_ratio = 0;  ///< share of the nodes that phi is concentrated on
  int multiplicity = 1;
  bool converged = true;
  double class_share = 0;  ///< variance of phi between classes / all of it, minus that by chance
};

struct Advice {
  std::string dataset;
  int64_t split = 0, training_nodes = 0;
  data::Metric metric = data::Metric::kAccuracy;
  double adjusted_homophily = 0;           ///< of the edges between training nodes; NaN without
  std::vector<CandidateScore> candidates;  ///< best first
  std::vector<GammaScore> gammas;          ///< best first
  CandidateScore reference;                ///< gamma 1, no rewiring
  /// The best candidate explains a tenth of the variance of the labels, and its gain is larger than
  /// the best of as many equal candidates would have by chance.
  bool clear = false;
  std::string reason;  ///< a paragraph for a person
  double seconds = 0;

  const CandidateScore& best() const { return candidates.front(); }
};

/// Whether the training nodes of a split are enough for advice.
bool can_advise(const data::Dataset& dataset, const data::Split& split,
                const AdviceOptions& options);

/// Ranks the candidates by networks with random weights and a fitted linear read-out: how well they
/// predict training nodes that were left out of the fit (docs/advise.md). Reads the labels of the
/// training nodes of the split and no others.
///
/// Needs:  an undirected graph with features; at least `folds` labelled training nodes and two
///         classes among them.
/// Cost:   one eigen-solve per gamma; per candidate O(arcs * width + nodes * width * 64), and for
///         the read-outs O(training nodes * 200^2 + folds * 200^3) at the most: seconds for graphs
///         of thousands of nodes. The same bits at every thread count.
/// Throws: InputError when something needed is missing, Interrupted on Ctrl-C.
Advice advise(const data::Dataset& dataset, int64_t split, const AdviceOptions& options,
              spectral::SpectralCache& cache);

}  // namespace dgat::study
