#include <cmath>
#include <nlohmann/json.hpp>

#include "dgat/train/option_table.h"
#include "dgat/train/run.h"

namespace dgat::train {
namespace {
using Json = nlohmann::ordered_json;

/// JSON has no NaN: a metric without a value (a split without test nodes) is null.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json options_json(const Config& config) {
  Json json = Json::object();
  for (const OptionInfo& option : config_options()) {
    const std::string text = option.get(config);
    const bool numeric = option.value == "INT" || option.value == "FLOAT";
    json[option.key] = numeric ? Json::parse(text) : Json(text);
  }
  return json;
}

Json spectrum_json(const SpectrumReport& s) {
  return {{"alpha", s.alpha},
          {"gamma", s.gamma},
          {"eigenvalues", s.eigenvalues},
          {"residuals", s.residuals},
          {"multiplicity", s.multiplicity},
          {"participation_ratio", number(s.participation_ratio)},
          {"solver", s.solver},
          {"seconds", s.seconds},
          {"converged", s.converged}};
}

Json rewire_json(int64_t split, const rewire::RewireReport& r) {
  return {{"split", split},
          {"mode", rewire::to_string(r.mode)},
          {"epsilon", r.epsilon},
          {"edges_before", r.edges_before},
          {"dropped", r.dropped},
          {"added", r.added},
          {"edges_after", r.edges_after},
          {"isolated_before", r.isolated_before},
          {"isolated_after", r.isolated_after},
          {"components_before", r.components_before},
          {"components_after", r.components_after},
          {"homophily_before", number(r.homophily_before)},
          {"homophily_after", number(r.homophily_after)}};
}

}  // namespace

std::string to_json(const RunSummary& summary) {
  const DepthResult& best = summary.best();
  Json json = {{"model", summary.config.model},       {"dataset", summary.dataset},
               {"metric", to_string(summary.metric)}, {"layers", best.layers},
               {"parameters", summary.parameters},    {"test_mean", number(best.test.mean)},
               {"test_std", number(best.test.std)},   {"val_mean", number(best.val.mean)},
               {"val_std", number(best.val.std)},     {"splits", Json::array()}};
  for (const SplitResult& s : best.splits) {
    json["splits"].push_back({{"split", s.split},
                              {"best_step", s.best.step},
                              {"train", number(s.best.train)},
                              {"val", number(s.best.val)},
                              {"test", number(s.best.test)},
                              {"seconds", s.seconds}});
  }
  json["depths"] = Json::array();
  for (const DepthResult& d : summary.depths) {
    json["depths"].push_back({{"layers", d.layers},
                              {"val_mean", number(d.val.mean)},
                              {"val_std", number(d.val.std)},
                              {"test_mean", number(d.test.mean)},
                              {"test_std", number(d.test.std)}});
  }
  json["seconds_per_step"] = summary.seconds_per_step;
  json["peak_rss_bytes"] = summary.peak_rss_bytes;
  json["spectrum"] = summary.spectrum.empty() ? Json(nullptr) : spectrum_json(summary.spectrum[0]);
  json["rewiring"] = Json::array();
  for (const auto& [split, report] : summary.rewirings) {
    json["rewiring"].push_back(rewire_json(split, report));
  }
  json["options"] = options_json(summary.config);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dgat::train
