#include "names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <unordered_map>

#include "dgat/data/limits.h"

namespace dgat::data {

bool is_one_of(std::string_view text, std::span<const std::string_view> words) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(words.begin(), words.end(), lower) != words.end();
}

void check_node_number(const TextReader& reader, size_t nodes) {
  if (nodes >= static_cast<size_t>(kMaxNodes)) reader.fail("more than {} nodes", kMaxNodes);
}

void sort_names(std::vector<std::string_view>& names) {
  int64_t x = 0, y = 0;
  const bool whole = std::all_of(names.begin(), names.end(),
                                 [&](std::string_view name) { return parse_integer(name, x); });
  std::sort(names.begin(), names.end(), [&](std::string_view a, std::string_view b) {
    if (!whole) return a < b;
    parse_integer(a, x);
    parse_integer(b, y);
    return x != y ? x < y : a < b;
  });
}

bool counts_from_zero(const std::vector<std::string_view>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] != fmt::format_int(i).c_str()) return false;
  }
  return true;
}

std::vector<std::string> copied(const std::vector<std::string_view>& names) {
  return {names.begin(), names.end()};
}

std::vector<int32_t> rows_by_number(const std::vector<std::string_view>& ids) {
  std::vector<int32_t> row_of(ids.size(), -1);
  for (size_t row = 0; row < ids.size(); ++row) {
    int64_t id = 0;
    const bool plain = parse_integer(ids[row], id) && ids[row][0] != '+' &&
                       (ids[row][0] != '0' || ids[row].size() == 1);
    if (!plain || id < 0 || id >= static_cast<int64_t>(ids.size())) return {};
    row_of[static_cast<size_t>(id)] = static_cast<int32_t>(row);
  }
  return row_of;  // ids are distinct, so every place is filled
}

void number_labels(const std::vector<std::string_view>& labels, Dataset& dataset) {
  const auto unlabelled = [](std::string_view label) { return label.empty() || label == "-1"; };
  std::unordered_map<std::string_view, int32_t> class_of;
  std::vector<std::string_view> names;
  for (const std::string_view label : labels) {
    if (!unlabelled(label) && class_of.emplace(label, 0).second) names.push_back(label);
  }
  sort_names(names);
  for (size_t c = 0; c < names.size(); ++c) class_of[names[c]] = static_cast<int32_t>(c);
  dataset.labels.reserve(labels.size());
  for (const std::string_view label : labels) {
    dataset.labels.push_back(unlabelled(label) ? -1 : class_of[label]);
  }
  dataset.classes = static_cast<int32_t>(names.size());
  if (!counts_from_zero(names)) dataset.class_names = copied(names);
}

}  // namespace dgat::data
