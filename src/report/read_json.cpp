#include "read_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dgat/core/error.h"
#include "dgat/core/files.h"

namespace dgat::report {
namespace {

/// What the cells of one column are.
struct ColumnKind {
  bool spread = false, numeric = false, whole = true;
};

ColumnKind kind_of(const Json& rows, const char* key) {
  ColumnKind kind;
  for (const Json& row : rows) {
    const auto cell = row.find(key);
    if (cell == row.end()) continue;
    kind.spread = kind.spread || cell->is_object();
    if (!cell->is_number()) continue;
    kind.numeric = true;
    const double value = cell->get<double>();
    kind.whole = kind.whole && value == std::floor(value);
  }
  return kind;
}

Cell cell_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return std::string(value.get<bool>() ? "✓" : "");
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Json parse_json(std::string_view text) {
  constexpr int kDeepest = 64;  // what reads or prints a value descends into it
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth < kDeepest; };
  return Json::parse(text, shallow, /*allow_exceptions=*/false);
}

Json read_object(const std::filesystem::path& path) {
  Json object = parse_json(read_whole_file(path));
  if (!object.is_object()) throw_input("{}: not a JSON object", path.string());
  return object;
}

double number_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>()
                                                     : std::numeric_limits<double>::quiet_NaN();
}

int64_t integer_at(const Json& object, const char* key) {
  const double value = number_at(object, key);
  constexpr double kLargest = 9e18;
  return std::abs(value) < kLargest ? static_cast<int64_t>(value) : 0;
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

const Json& list_at(const Json& object, const char* key) {
  static const Json empty = Json::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : empty;
}

const Json& object_at(const Json& object, const char* key) {
  static const Json empty = Json::object();
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : empty;
}

std::string options_text(const Json& options) {
  std::string text;
  for (const auto& [key, value] : options.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key,
                        value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

Table study_table(const Json& json) {
  Table table{text_at(json, "title"), "", {}, {}};
  for (const Json& note : list_at(json, "notes")) {
    if (!note.is_string()) continue;
    if (!table.note.empty()) table.note += '\n';
    table.note += note.get<std::string>();
  }
  const Json& rows = list_at(json, "rows");
  table.rows.resize(rows.size());
  for (const Json& column : list_at(json, "columns")) {
    const std::string key = text_at(column, "key"), heading = text_at(column, "heading");
    const ColumnKind kind = kind_of(rows, key.c_str());
    const bool points = kind.spread || key == "difference" || key == "deviations";
    const Format format = points          ? Format::kFixed
                          : !kind.numeric ? Format::kText
                          : kind.whole    ? Format::kInteger
                                          : Format::kNumber;
    table.columns.push_back({heading, format});
    if (kind.spread) table.columns.push_back({"±", Format::kFixed});
    for (size_t r = 0; r < rows.size(); ++r) {
      const auto cell = rows[r].find(key);
      const Json value = cell == rows[r].end() ? Json() : *cell;
      if (value.is_object()) {
        table.rows[r].emplace_back(number_at(value, "mean"));
        table.rows[r].emplace_back(number_at(value, "std"));
        continue;
      }
      table.rows[r].push_back(value.is_null() && format == Format::kText ? Cell("")
                                                                         : cell_of(value));
      if (kind.spread) table.rows[r].emplace_back(std::numeric_limits<double>::quiet_NaN());
    }
  }
  return table;
}

}  // namespace dgat::report
