#include "dgat/study/run.h"
#include "dgat/train/option_table.h"
#include "study_json.h"

namespace dgat::study {
namespace {
Json options_json(const train::Config& config) {
  Json json = Json::object();
  for (const train::OptionInfo& option : train::config_options()) {
    const std::string text = option.get(config);
    const bool numeric = option.value == "INT" || option.value.starts_with("FLOAT");
    json[option.key] = numeric && text != "auto" ? Json::parse(text) : Json(text);
  }
  return json;
}

Json spectrum_json(const train::Directions& directions) {
  const spectral::EigenResult& s = directions.spectrum();
  return {{"alpha", directions.alpha()},
          {"gamma", s.gamma},
          {"eigenvalues", s.eigenvalues},
          {"residuals", s.residuals},
          {"multiplicity", s.multiplicity},
          {"participation_ratio", number(directions.participation_ratio())},
          {"solver", s.solver},
          {"seconds", s.seconds},
          {"converged", s.converged}};
}

Json rewire_json(int64_t split, const train::GraphChoice& graph, const rewire::RewireReport& r) {
  return {{"split", split},
          {"mode", rewire::to_string(r.mode)},
          {"alpha", graph.alpha},
          {"gamma", graph.gamma},
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

std::string to_json(const Run& run) {
  const RowResult& row = run.row;
  Json json = {{"model", run.inputs.config->model},
               {"dataset", run.inputs.data.dataset->name},
               {"metric", row.splits.front().metric},
               {"layers", row.choice().layers},
               {"parameters", row.splits.front().parameters},
               {"test_mean", number(row.test.mean)},
               {"test_std", number(row.test.std)},
               {"val_mean", number(row.val.mean)},
               {"val_std", number(row.val.std)},
               {"splits", Json::array()}};
  for (const TrialResult& s : row.splits) {
    json["splits"].push_back({{"split", s.split},
                              {"best_step", s.best_step},
                              {"train", number(s.train)},
                              {"val", number(s.val)},
                              {"test", number(s.test)},
                              {"seconds", s.seconds}});
  }
  json["depths"] = Json::array();
  for (const Choice& depth : row.choices) {
    json["depths"].push_back({{"layers", depth.layers},
                              {"val_mean", number(depth.val.mean)},
                              {"val_std", number(depth.val.std)},
                              {"test_mean", number(depth.test.mean)},
                              {"test_std", number(depth.test.std)}});
  }
  json["seconds_per_step"] = row.seconds_per_step;
  json["peak_rss_bytes"] = run.peak_rss_bytes;
  const auto directions = run.inputs.builder->directions(row.splits.front().split);
  json["spectrum"] = directions ? spectrum_json(*directions) : Json(nullptr);
  json["rewiring"] = Json::array();
  for (const auto& [split, report] : run.inputs.builder->rewirings()) {
    json["rewiring"].push_back(rewire_json(split, run.inputs.builder->choice_of(split), report));
  }
  json["options"] = options_json(*run.inputs.config);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dgat::study
