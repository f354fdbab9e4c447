#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dgat/data/dataset.h"
#include "dgat/data/text_file.h"

/// Ids and labels that are texts: how they are recognised, ordered and numbered.
namespace dgat::data {

using IdTable = std::unordered_map<std::string_view, graph::NodeId>;

inline constexpr std::array<std::string_view, 6> kIdWords = {"id",     "node", "node_id",
                                                             "nodeid", "name", "key"};
inline constexpr std::array<std::string_view, 5> kLabelWords = {"label", "class", "y", "target",
                                                                "category"};

/// In any case.
bool is_one_of(std::string_view text, std::span<const std::string_view> words);

/// Throws when one node more would not fit.
void check_node_number(const TextReader& reader, size_t nodes);

/// Increasing by value when all are whole numbers, else by bytes.
void sort_names(std::vector<std::string_view>& names);

/// The texts are exactly "0", "1", ... in this order.
bool counts_from_zero(const std::vector<std::string_view>& names);

std::vector<std::string> copied(const std::vector<std::string_view>& names);

/// For ids that are 0 .. N-1 in some order: row of every id. Empty when they are not.
std::vector<int32_t> rows_by_number(const std::vector<std::string_view>& ids);

/// Classes in sorted order; an empty label and -1 mean unlabelled. Fills labels, classes and
/// class_names.
void number_labels(const std::vector<std::string_view>& labels, Dataset& dataset);

}  // namespace dgat::data
