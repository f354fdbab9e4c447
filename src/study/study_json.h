#pragma once

#include <nlohmann/json.hpp>

#include "dgat/study/comparison.h"

namespace dgat::study {

using Json = nlohmann::ordered_json;

/// JSON has no NaN and no infinity: null.
Json number(double value);
/// gamma, alpha, rewire and epsilon of a graph, and back.
Json graph_json(const train::GraphChoice& graph);
train::GraphChoice graph_in(const Json& json);
/// {"mean", "std"} in percent, or null.
Json to_json(const std::optional<Published>& paper);
/// A row with its choices and the values of every split; metrics are fractions.
Json to_json(const RowResult& row);
/// What is common to the rows: data set, metric, folds, time, machine.
Json frame_json(const StudyResult& study);
std::string dump(const Json& json);

}  // namespace dgat::study
