#include <cmath>

#include "dgat/core/error.h"
#include "packing.h"

namespace dgat::report {
namespace {

/// A vector of a component policy is that of `each` on some nodes, scaled, and 0 elsewhere: the
/// scale and the last bytes of its entries are enough, where they give it back exactly.
Json scaled_column(std::span<const double> column, std::span<const double> each) {
  const auto largest =
      std::ranges::max_element(column, {}, [](double entry) { return std::abs(entry); });
  const double base = each[static_cast<size_t>(largest - column.begin())];
  const double scale = base == 0 ? 0 : *largest / base;
  std::vector<uint8_t> support, bytes;
  for (size_t i = 0; i < column.size(); ++i) {
    support.push_back(column[i] == 0 ? 0 : 1);
    if (column[i] == 0) continue;
    const auto near = std::bit_cast<int64_t>(each[i] * scale);
    if (std::abs(std::bit_cast<int64_t>(column[i]) - near) > 127) return nullptr;
    bytes.push_back(last_byte(column[i]));
  }
  return {{"scale", scale}, {"support", packed("u8:", support)}, {"bytes", packed("u8:", bytes)}};
}

/// Null: equal to `each`. Otherwise each column as above, or in full.
Json policy_json(const std::vector<double>& vectors, const Explorer::Solved& solved, size_t nodes) {
  if (vectors.empty()) return nullptr;
  Json columns = Json::array();
  for (size_t begin = 0; begin < vectors.size(); begin += nodes) {
    const auto column = std::span(vectors).subspan(begin, nodes);
    Json scaled = scaled_column(column, std::span(solved.each).subspan(begin, nodes));
    if (scaled.is_null()) {
      columns.push_back(packed("f64:", std::vector<double>(column.begin(), column.end())));
    } else {
      columns.push_back(std::move(scaled));
    }
  }
  return columns;
}

/// The last bytes of m^(1/2 - alpha): a row per alpha, an entry per row sum.
std::vector<uint8_t> power_bytes(const Explorer& page, const Explorer::Solved& solved) {
  std::vector<uint8_t> bytes;
  for (const double alpha : page.alphas) {
    for (const double mass : solved.mass) bytes.push_back(last_byte(std::pow(mass, 0.5 - alpha)));
  }
  return bytes;
}

/// Only drawn: 16 bits of the share of the largest entry.
std::string height_text(const std::vector<float>& second) {
  float largest = 0;
  for (const float entry : second) largest = std::max(largest, std::abs(entry));
  std::vector<int16_t> codes;
  codes.reserve(second.size());
  for (const float entry : second) {
    codes.push_back(static_cast<int16_t>(largest > 0 ? std::lround(32767 * entry / largest) : 0));
  }
  return packed("i16:", codes);
}

Json solved_json(const Explorer& page, const Explorer::Solved& solved) {
  const size_t nodes = page.id.size();
  expects(solved.each.size() == nodes * static_cast<size_t>(page.vectors),
          "a gamma of the explorer has its vectors");
  return {{"gamma", solved.gamma},
          {"eigenvalue", number(solved.eigenvalue)},
          {"gap", number(solved.gap)},
          {"participation", number(solved.participation_ratio)},
          {"multiplicity", solved.multiplicity},
          {"converged", solved.converged},
          {"mass", packed("f64:", solved.mass)},
          {"powers", packed("u8:", power_bytes(page, solved))},
          {"each", packed("f64:", solved.each)},
          {"first", policy_json(solved.first, solved, nodes)},
          {"largest", policy_json(solved.largest, solved, nodes)},
          {"second", solved.second.empty() ? Json() : Json(height_text(solved.second))}};
}

/// How many edges each node has in `from`, which is sorted.
std::vector<int32_t> row_counts(const Explorer& page) {
  std::vector<int32_t> counts(page.id.size(), 0);
  for (const int32_t i : page.from) ++counts[static_cast<size_t>(i)];
  return counts;
}

}  // namespace

Json to_json(const Explorer& page) {
  expects(page.from.size() == page.to.size() && std::ranges::is_sorted(page.from),
          "edges of the explorer lie in rows");
  Json gammas = Json::array(), advice = Json::array();
  for (const Explorer::Solved& solved : page.gammas) gammas.push_back(solved_json(page, solved));
  for (const Explorer::Scored& one : page.advice) {
    advice.push_back({{"gamma", one.gamma},
                      {"alpha", one.alpha},
                      {"rewire", one.rewire},
                      {"epsilon", one.epsilon},
                      {"score", number(one.score)}});
  }
  return {{"type", "explorer"},
          {"title", page.title},
          {"note", page.note},
          {"command", page.command},
          {"start",
           {{"alpha", page.start.alpha},
            {"gamma", page.start.gamma},
            {"rewire", page.start.rewire},
            {"epsilon", page.start.epsilon},
            {"components", page.start.components}}},
          {"vectors", page.vectors},
          {"sampled", page.sampled},
          {"allNodes", page.all_nodes},
          {"allEdges", page.all_edges},
          {"id", page.sampled ? Json(packed("i32:", page.id)) : Json()},
          {"names", page.names},
          {"classNames", page.class_names},
          {"label", packed("i32:", page.training_label)},
          {"rows", packed_indices(row_counts(page))},
          {"to", packed_indices(page.to)},
          {"strengthOf", packed_indices(page.strength_of)},
          {"alphas", page.alphas},
          {"gammas", std::move(gammas)},
          {"advice", std::move(advice)},
          {"adviceText", page.advice_text},
          {"adviceClear", page.advice_clear}};
}

}  // namespace dgat::report
