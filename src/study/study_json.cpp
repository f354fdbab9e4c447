#include "study_json.h"

#include <cmath>

namespace dgat::study {

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json graph_json(const train::GraphChoice& graph) {
  return {{"gamma", graph.gamma},
          {"alpha", graph.alpha},
          {"rewire", rewire::to_string(graph.mode)},
          {"epsilon", graph.epsilon ? Json(rewire::to_string(*graph.epsilon)) : Json(nullptr)}};
}

train::GraphChoice graph_in(const Json& json) {
  train::GraphChoice graph{json.at("gamma").get<double>(), json.at("alpha").get<double>(),
                           rewire::parse_mode(json.at("rewire").get<std::string>())};
  if (!json.at("epsilon").is_null()) {
    graph.epsilon = rewire::parse_epsilon(json.at("epsilon").get<std::string>());
  }
  return graph;
}

std::string dump(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json to_json(const std::optional<Published>& paper) {
  if (!paper) return nullptr;
  return {{"mean", number(paper->mean)}, {"std", number(paper->std)}};
}

Json to_json(const RowResult& row) {
  Json json = {{"name", row.name}};
  json["failure"] = row.failure.empty() ? Json(nullptr) : Json(row.failure);
  json["trials"] = row.trials;
  json["trials_left"] = row.trials_left;
  json["seconds"] = row.seconds;
  json["choices"] = Json::array();
  for (const Choice& choice : row.choices) {
    const bool counted = row.finished() && choice.failure.empty();
    json["choices"].push_back(
        {{"candidate", choice.candidate},
         {"layers", choice.layers},
         {"val_mean", counted ? number(choice.val.mean) : Json(nullptr)},
         {"test_mean", counted ? number(choice.test.mean) : Json(nullptr)},
         {"failure", choice.failure.empty() ? Json(nullptr) : Json(choice.failure)}});
  }
  json["splits"] = Json::array();
  if (!row.finished()) return json;
  json["model"] = row.config->model;
  json["layers"] = row.choice().layers;
  json["candidate"] = row.choice().candidate;
  json["options"] = differing_options(*row.config);
  json["parameters"] = row.splits.front().parameters;
  json["test_mean"] = number(row.test.mean);
  json["test_std"] = number(row.test.std);
  json["val_mean"] = number(row.val.mean);
  json["val_std"] = number(row.val.std);
  json["train_mean"] = number(row.train.mean);
  json["seconds_per_step"] = row.seconds_per_step;
  json["peak_rss_bytes"] = row.peak_rss_bytes;
  if (const auto& rewiring = row.splits.front().rewiring) {
    json["rewiring"] = {{"mode", rewiring->mode},
                        {"edges_before", rewiring->edges_before},
                        {"edges_after", rewiring->edges_after},
                        {"homophily_before", number(rewiring->homophily_before)},
                        {"homophily_after", number(rewiring->homophily_after)}};
    if (rewiring->advised) json["rewiring"]["advised"] = graph_json(*rewiring->advised);
  } else {
    json["rewiring"] = nullptr;
  }
  for (size_t i = 0; i < row.splits.size(); ++i) {
    const TrialResult& r = row.splits[i];
    json["splits"].push_back({{"split", row.folds[i]},
                              {"best_step", r.best_step},
                              {"train", number(r.train)},
                              {"val", number(r.val)},
                              {"test", number(r.test)},
                              {"seconds", r.seconds}});
  }
  return json;
}

Json frame_json(const StudyResult& study) {
  return {{"dataset", study.dataset},
          {"metric", study.metric},
          {"splits", study.folds},
          {"choose_on", study.choosing},
          {"test_to_train", study.test_to_train},
          {"seconds", study.seconds()},
          {"trials_left", study.trials_left()},
          {"side_by_side", study.side_by_side},
          {"threads", study.threads},
          {"machine", machine_description()}};
}

std::string to_json(const Comparison& c) {
  Json json = {{"study", c.kind}};
  json.update(frame_json(c.study));
  json["reference"] = c.reference ? Json(c.study.rows[*c.reference].name) : Json(nullptr);
  json["rows"] = Json::array();
  for (size_t r = 0; r < c.study.rows.size(); ++r) {
    const RowResult& row = c.study.rows[r];
    const Standing& standing = c.rows[r];
    Json object = to_json(row);
    object["rank"] = number(standing.rank);
    if (standing.test) {
      object["versus_reference"] = {{"difference", standing.test->difference},
                                    {"low", standing.test->low},
                                    {"high", standing.test->high},
                                    {"t", number(standing.test->t)},
                                    {"p", standing.test->p},
                                    {"p_holm", standing.p_holm},
                                    {"pairs", standing.test->pairs},
                                    {"wins", standing.wins.wins},
                                    {"ties", standing.wins.ties},
                                    {"losses", standing.wins.losses},
                                    {"bootstrap_low", standing.bootstrap->low},
                                    {"bootstrap_high", standing.bootstrap->high}};
    } else {
      object["versus_reference"] = nullptr;
    }
    object["published"] = to_json(standing.paper);
    object["deviations_from_published"] =
        standing.paper && row.finished()
            ? number(difference_in_deviations(100 * row.test.mean, 100 * row.test.std,
                                              *standing.paper))
            : Json(nullptr);
    json["rows"].push_back(std::move(object));
  }
  json["table"] = Json::parse(comparison_table(c).json());
  return dump(json);
}

}  // namespace dgat::study
