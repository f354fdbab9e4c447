// Advice: the ranking of graphs and the race of short trainings.
#include <limits>

#include "bindings.h"
#include "dgat/core/error.h"
#include "dgat/nn/registry.h"
#include "dgat/study/advised_graph.h"
#include "dgat/study/engine.h"
#include "dgat/study/race.h"

namespace py = pybind11;

namespace dgat::python {
namespace {
using namespace py::literals;
using Holder = std::shared_ptr<data::Dataset>;

study::Rewiring parse_rewiring(const std::string& text) {
  const size_t colon = text.find(':');
  study::Rewiring result{rewire::parse_mode(text.substr(0, colon))};
  if (result.mode.automatic) {
    throw InputError("advise: auto is not a candidate, because the advice replaces it");
  }
  if (colon != std::string::npos) result.epsilon = rewire::parse_epsilon(text.substr(colon + 1));
  return result;
}

py::dict edge_labels(const study::EdgeLabels& e) {
  return py::dict("edges"_a = e.edges, "agreement"_a = e.agreement,
                  "label_informativeness"_a = e.informativeness);
}

py::dict choice_dict(const study::Candidate& c) {
  py::dict out;
  out["gamma"] = c.gamma;
  out["alpha"] = c.alpha;
  out["rewire"] = rewire::to_string(c.mode);
  out["epsilon"] =
      c.epsilon ? py::object(py::str(rewire::to_string(*c.epsilon))) : py::object(py::none());
  return out;
}

py::dict candidate_dict(const study::CandidateScore& c) {
  py::dict out = choice_dict(c.candidate);
  out["score"] = c.score;
  out["held_out"] = c.metric;
  out["gain"] = c.gain;
  out["gain_error"] = c.error;
  out["repeated"] = c.repeated;
  out["edges_after"] = c.report.edges_after;
  out["dropped_edges"] = c.report.dropped;
  out["added_edges"] = c.report.added;
  out["kept"] = edge_labels(c.kept);
  out["dropped"] = edge_labels(c.dropped);
  out["added"] = edge_labels(c.added);
  return out;
}

py::dict gamma_dict(const study::GammaScore& g) {
  return py::dict("gamma"_a = g.gamma, "score"_a = g.score, "eigenvalue"_a = g.eigenvalue,
                  "gap"_a = g.gap, "multiplicity"_a = g.multiplicity,
                  "participation_ratio"_a = g.participation_ratio, "class_share"_a = g.class_share,
                  "converged"_a = g.converged);
}

/// None where the answer is the ranking.
py::object race_dict(const std::optional<study::Race>& race) {
  if (!race || !race->run()) return py::none();
  py::list candidates;
  for (const study::Raced& c : race->candidates) {
    py::dict one = choice_dict(c.candidate);
    const bool trained = c.level >= 0;
    const study::Rung level = trained ? race->levels[static_cast<size_t>(c.level)] : study::Rung{};
    one["val"] = trained ? c.val : std::numeric_limits<double>::quiet_NaN();
    one["steps"] = trained ? level.steps : 0;
    one["splits"] = trained ? level.splits : 0;
    candidates.append(one);
  }
  py::dict out;
  out["metric"] = race->metric;
  out["trainings"] = race->trainings;
  out["validation_nodes"] = race->validation_nodes;
  out["gain"] = race->gain;
  out["error"] = race->error;
  out["left_out"] = race->left_out;
  out["candidates"] = candidates;
  return out;
}

/// What to rank, and whether and how long to race.
struct Question {
  std::optional<int64_t> split;
  std::vector<double> gammas, alphas;
  std::vector<std::string> rewirings;
  std::string race;
  int64_t trials = 0;

  bool races() const { return trials > 0 || (race != "off" && race != "0"); }
  study::AdviceOptions ranking(const train::Config& config) const {
    study::AdviceOptions out = study::question_for(config);
    if (races()) out.gammas = study::race_gammas();
    if (!gammas.empty()) out.gammas = gammas;
    if (!alphas.empty()) out.alphas = alphas;
    if (!rewirings.empty()) out.rewirings.clear();
    for (const std::string& text : rewirings) out.rewirings.push_back(parse_rewiring(text));
    return out;
  }
};

/// As `dgat advise`.
py::dict advise(const Holder& dataset, const train::Settings& settings, const Question& question) {
  const train::Config config = train::resolve(settings, *dataset);
  if (!nn::find_model(config.model).directional) {
    throw_input("advise: {} has no directions, so gamma and rewiring have no effect on it",
                config.model);
  }
  const study::AdviceOptions ranking = question.ranking(config);
  study::RaceOptions racing = study::race_of(config);
  racing.split = question.split.value_or(-1);
  racing.trainings = question.trials;
  const bool races = question.races();
  const double limit = races && question.trials == 0 ? study::parse_duration(question.race) : 0;
  std::optional<study::Race> race;
  const study::Advice advice = watched([&] {
    const DatasetPointer used =
        with_features(with_splits(dataset, settings, /*required=*/true), config.features);
    spectral::SpectralCache cache(spectral::default_cache_folder());
    study::Advice ranked = study::advise(*used, question.split.value_or(0), ranking, cache);
    if (question.trials == 0) racing.seconds = std::max(0.0, limit - ranked.seconds);
    if (races) race = study::race(*used, ranked, racing, cache);
    return ranked;
  });
  const bool raced = race && race->run();
  py::dict out;
  out["dataset"] = advice.dataset;
  out["split"] = advice.split;
  out["training_nodes"] = advice.training_nodes;
  out["metric"] = advice.metric == data::Metric::kRocAuc ? "roc_auc" : "accuracy";
  out["adjusted_homophily"] = advice.adjusted_homophily;
  out["clear"] = raced ? race->clear : advice.clear;
  out["reason"] = race ? advice.reason + " " + race->reason : advice.reason;
  out["seconds"] = advice.seconds + (race ? race->seconds : 0);
  out["reference"] = candidate_dict(advice.reference);
  py::list candidates, values;
  for (const study::CandidateScore& c : advice.candidates) candidates.append(candidate_dict(c));
  for (const study::GammaScore& g : advice.gammas) values.append(gamma_dict(g));
  out["candidates"] = candidates;
  out["gammas"] = values;
  out["race"] = race_dict(race);
  return out;
}

}  // namespace

void add_advice(py::module_& module) {
  module.def(
      "advise",
      [](const Holder& dataset, std::optional<int64_t> split, const train::Settings& settings,
         const std::vector<double>& gammas, const std::vector<double>& alphas,
         const std::vector<std::string>& rewirings, const std::string& race, int64_t trials) {
        return advise(dataset, settings, {split, gammas, alphas, rewirings, race, trials});
      },
      py::arg("dataset"), py::arg("split"), py::arg("settings"), py::arg("gammas"),
      py::arg("alphas"), py::arg("rewirings"), py::arg("race"), py::arg("trials"));
}

}  // namespace dgat::python
