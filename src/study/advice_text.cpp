#include "advice_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dgat::study {
namespace {

constexpr int64_t kEnoughEdges = 20;  // with fewer, shares of labels are noise

/// "neighbours mostly agree" and the like, from the adjusted homophily.
std::string about_edges(const Advice& advice) {
  const double h = advice.adjusted_homophily;
  if (std::isnan(h)) {
    return "No edge joins two training nodes, so their labels give no information about the edges.";
  }
  const char* word = h >= 0.5    ? "agree"
                     : h >= 0.1  ? "agree a little more often than by chance"
                     : h > -0.05 ? "agree about as often as by chance"
                                 : "agree less often than by chance";
  return fmt::format("Neighbours among the training nodes {} (adjusted homophily {:.2f}).", word,
                     h);
}

std::string about_rewiring(const CandidateScore& best) {
  const rewire::RewireReport& r = best.report;
  const bool pruned = best.candidate.mode.prune != rewire::Prune::kNone;
  const bool joined = best.candidate.mode.join != rewire::Join::kNone;
  if (!pruned && !joined) return "It keeps the graph as it is and uses phi for directions only.";
  std::string text = fmt::format("It turns {} edges into {}", r.edges_before, r.edges_after);
  if (pruned) {
    text += fmt::format(", dropping the {}% whose ends are {} along phi",
                        std::lround(100.0 * static_cast<double>(r.dropped) /
                                    static_cast<double>(std::max<int64_t>(r.edges_before, 1))),
                        best.candidate.mode.prune == rewire::Prune::kFar ? "farthest" : "nearest");
  }
  if (joined) text += fmt::format(", joining {} pairs across the ends of phi", r.added);
  text += ".";
  if (pruned && std::min(best.kept.edges, best.dropped.edges) >= kEnoughEdges) {
    text += fmt::format(
        " Of the edges between training nodes, {:.0f}% of those kept join equal labels against "
        "{:.0f}% of those dropped (label informativeness {:.2f} against {:.2f}).",
        100 * best.kept.agreement, 100 * best.dropped.agreement, best.kept.informativeness,
        best.dropped.informativeness);
  }
  return text;
}

std::string about_gamma(const Advice& advice, double chosen) {
  const auto at = std::find_if(advice.gammas.begin(), advice.gammas.end(),
                               [chosen](const GammaScore& g) { return g.gamma == chosen; });
  if (at == advice.gammas.end()) return {};
  std::string text = fmt::format(
      " There phi is concentrated on {:.0f}% of the nodes and explains {:.0f}% of the classes.",
      100 * at->participation_ratio, 100 * std::max(0.0, at->class_share));
  if (at->multiplicity > 1) text += " Its eigenvalue is multiple, so phi is one choice of several.";
  if (!at->converged) text += " The eigenvector did not converge, so this is approximate.";
  const GammaScore& last = advice.gammas.back();
  if (advice.gammas.size() > 1 && std::abs(advice.gammas.front().score - last.score) < 0.01) {
    text += " Gamma itself matters little here: the best and the worst are within 1%.";
  } else if (advice.gammas.size() > 1) {
    text += fmt::format(" The least promising gamma is {:g} ({:.3f}).", last.gamma, last.score);
  }
  return text;
}

}  // namespace

std::string explain(const Advice& advice, const AdviceOptions& options) {
  const CandidateScore& best = advice.best();
  const char* metric = advice.metric == data::Metric::kRocAuc ? "ROC AUC" : "accuracy";
  std::string text = about_edges(advice);
  text += fmt::format(
      " Small networks with random weights and a fitted read-out{} predict held-out training nodes "
      "best with {}: {} {:.1f}%, {:.3f} of the variance of the labels, against {:.1f}% and {:.3f} "
      "on the graph as it is (gamma 1, no rewiring).",
      options.own_features ? ", which keep a node's own features," : "", to_string(best.candidate),
      metric, 100 * best.metric, best.score, 100 * advice.reference.metric, advice.reference.score);
  text += " ";
  text += about_rewiring(best);
  text += about_gamma(advice, best.candidate.gamma);
  text +=
      advice.clear
          ? fmt::format(
                " The gain, {:.3f} ± {:.3f}, is more than chance would give among {} candidates.",
                best.gain, best.error, advice.candidates.size())
      : best.gain > 2 * best.error
          ? fmt::format(
                " The gain is {:.3f} ± {:.3f}, but networks that explain so little of the labels "
                "say little about trained ones: only trainings can decide (`--race 60s`, `dgat "
                "tune`).",
                best.gain, best.error)
          : fmt::format(
                " The gain, {:.3f} ± {:.3f}, is no more than chance would give among {} "
                "candidates: the training nodes show no clear preference. `dgat "
                "tune` can decide by training.",
                best.gain, best.error, advice.candidates.size());
  return text;
}

}  // namespace dgat::study
