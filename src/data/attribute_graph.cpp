#include "attribute_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/data/limits.h"
#include "dgat/data/text_file.h"
#include "edge_rows.h"
#include "feature_rows.h"
#include "names.h"

namespace dgat::data {
using graph::NodeId;

namespace {

/// Numbers, and the truth values of GraphML.
bool parse_value(std::string_view text, double& value) {
  if (text == "true" || text == "false") {
    value = text == "true" ? 1 : 0;
    return true;
  }
  return parse_real(text, value);
}

}  // namespace

int32_t AttributeGraph::attribute(const std::string& name, bool numeric) {
  const auto [place, added] = attribute_of_.emplace(name, static_cast<int32_t>(attributes_.size()));
  if (added) attributes_.push_back({.name = name, .numeric = numeric, .default_value = {}});
  Attribute& found = attributes_[static_cast<size_t>(place->second)];
  found.numeric = found.numeric && numeric;
  return place->second;
}

void AttributeGraph::set_default(int32_t attribute, std::string value) {
  attributes_[static_cast<size_t>(attribute)].has_default = true;
  attributes_[static_cast<size_t>(attribute)].default_value = std::move(value);
}

NodeId AttributeGraph::number(std::string_view id, int64_t line) {
  if (const auto place = node_of_.find(id); place != node_of_.end()) return place->second;
  if (id.empty()) throw_input("{}:{}: a node id is empty", source_, line);
  const auto node = static_cast<NodeId>(ids_.size());
  if (node >= kMaxNodes) throw_input("{}:{}: more than {} nodes", source_, line, kMaxNodes);
  node_of_.emplace(ids_.emplace_back(id), node);
  listed_.push_back(0);
  named_.push_back(line);
  return node;
}

void AttributeGraph::add_node(std::string_view id, int64_t line) {
  last_ = number(id, line);
  int64_t& listed = listed_[static_cast<size_t>(last_)];
  if (listed > 0) {
    throw_input("{}:{}: node id {} was already given in line {}", source_, line, shown(id), listed);
  }
  listed = line;
}

void AttributeGraph::set(int32_t attribute, std::string value, int64_t line) {
  expects(last_ >= 0, "an attribute belongs to a node");
  ++attributes_[static_cast<size_t>(attribute)].values;
  values_.push_back({attribute, last_, line, std::move(value)});
}

void AttributeGraph::add_edge(std::string_view from, std::string_view to, std::string_view weight,
                              int64_t line) {
  const NodeId first = number(from, line);
  edges_.push_back({first, number(to, line)});
  double value = 1;
  if (!weight.empty() && !parse_real(weight, value)) {
    throw_input("{}:{}: the weight must be a number, got {}", source_, line, shown(weight));
  }
  const auto narrow = static_cast<float>(value);
  if (!(narrow > 0) || !std::isfinite(narrow)) {
    throw_input(
        "{}:{}: the weight must be positive and finite, got {}; drop the edge or the weight",
        source_, line, shown(weight));
  }
  weights_.push_back(narrow);
  weighted_ = weighted_ || !weight.empty();
}

bool AttributeGraph::is_split(const Attribute& attribute) const {
  const std::string& name = attribute.name;
  return name.starts_with("split") && name.find_first_not_of("0123456789", 5) == std::string::npos;
}

std::vector<std::string_view> AttributeGraph::texts(int32_t attribute) const {
  const Attribute& info = attributes_[static_cast<size_t>(attribute)];
  std::vector<std::string_view> result(ids_.size(), info.default_value);
  for (const Value& value : values_) {
    if (value.attribute == attribute) result[static_cast<size_t>(value.node)] = value.text;
  }
  return result;
}

int32_t AttributeGraph::label_attribute(std::span<const std::string_view> words) const {
  for (const std::string_view word : words) {
    for (size_t a = 0; a < attributes_.size(); ++a) {
      const std::array<std::string_view, 1> one{word};
      if (!is_one_of(attributes_[a].name, one)) continue;
      if (word == "y" && (attribute_of_.contains("x") || attribute_of_.contains("X"))) continue;
      if (word == "label") {
        const std::vector<std::string_view> values = texts(static_cast<int32_t>(a));
        const std::unordered_set<std::string_view> distinct(values.begin(), values.end());
        if (values.size() > 1 && distinct.size() == values.size()) continue;
      }
      return static_cast<int32_t>(a);
    }
  }
  return -1;
}

void AttributeGraph::read_splits(const std::vector<NodeId>& place, Dataset& dataset) const {
  std::vector<int32_t> columns;
  for (size_t a = 0; a < attributes_.size(); ++a) {
    if (is_split(attributes_[a])) columns.push_back(static_cast<int32_t>(a));
  }
  std::sort(columns.begin(), columns.end(), [&](int32_t a, int32_t b) {
    const std::string &x = attributes_[static_cast<size_t>(a)].name,
                      &y = attributes_[static_cast<size_t>(b)].name;
    return x.size() != y.size() ? x.size() < y.size() : x < y;  // split2 before split10
  });
  for (const int32_t column : columns) {
    Split& split = dataset.splits.emplace_back();
    const std::vector<std::string_view> parts = texts(column);
    for (size_t i = 0; i < parts.size(); ++i) {
      const NodeId node = place[i];
      if (parts[i].empty() || dataset.labels[static_cast<size_t>(node)] < 0) continue;
      if (parts[i] != "train" && parts[i] != "val" && parts[i] != "test") {
        throw_input("{}: {} of node {} is {}; expected train, val, test or nothing", source_,
                    attributes_[static_cast<size_t>(column)].name, shown(ids_[i]), shown(parts[i]));
      }
      (parts[i] == "train" ? split.train
       : parts[i] == "val" ? split.val
                           : split.test)
          .push_back(node);
    }
    for (auto* part : {&split.train, &split.val, &split.test}) {
      std::sort(part->begin(), part->end());
    }
  }
}

void AttributeGraph::read_features(int32_t label, const std::vector<int32_t>& order,
                                   Dataset& dataset) const {
  const size_t nodes = ids_.size();
  std::vector<int32_t> column_of(attributes_.size(), -1);
  std::string unread;
  for (size_t a = 0; a < attributes_.size(); ++a) {
    const Attribute& info = attributes_[a];
    if (static_cast<int32_t>(a) == label || info.name == naming_ || is_split(info)) continue;
    if (!info.numeric) {
      unread += (unread.empty() ? "" : ", ") + shown(info.name);
      continue;
    }
    if (!info.has_default && info.values < static_cast<int64_t>(nodes)) {
      throw_input("{}: {} of {} nodes have no attribute {}; a feature needs a value for every node",
                  source_, static_cast<int64_t>(nodes) - info.values, nodes, shown(info.name));
    }
    column_of[a] = static_cast<int32_t>(dataset.feature_names.size());
    dataset.feature_names.push_back(info.name);
  }
  if (!unread.empty()) {
    notice(fmt::format("{}: text attributes are not read as features: {}", source_, unread));
  }
  const size_t cols = dataset.feature_names.size();
  if (cols == 0) return;
  std::vector<float> row(cols, 0.0F);
  const auto number = [&](const Attribute& info, std::string_view text, const std::string& where) {
    double value = 0;
    if (!parse_value(text, value) || !std::isfinite(static_cast<float>(value))) {
      throw_input("{}: attribute {} must be a finite number, got {}", where, shown(info.name),
                  shown(text));
    }
    return static_cast<float>(value);
  };
  std::vector<float> defaults(cols, 0.0F);
  for (size_t a = 0; a < attributes_.size(); ++a) {
    if (column_of[a] < 0 || !attributes_[a].has_default) continue;
    defaults[static_cast<size_t>(column_of[a])] =
        number(attributes_[a], attributes_[a].default_value, source_);
  }
  std::vector<const Value*> by_node;
  for (const Value& value : values_) {
    if (column_of[static_cast<size_t>(value.attribute)] >= 0) by_node.push_back(&value);
  }
  std::stable_sort(by_node.begin(), by_node.end(),
                   [](const Value* a, const Value* b) { return a->node < b->node; });
  FeatureRows features;
  size_t at = 0;
  for (size_t i = 0; i < nodes; ++i) {
    row = defaults;
    for (; at < by_node.size() && static_cast<size_t>(by_node[at]->node) == i; ++at) {
      const Value& value = *by_node[at];
      const auto attribute = static_cast<size_t>(value.attribute);
      row[static_cast<size_t>(column_of[attribute])] =
          number(attributes_[attribute], value.text, fmt::format("{}:{}", source_, value.line));
    }
    for (size_t c = 0; c < cols; ++c) features.add(static_cast<int32_t>(c), row[c]);
    features.end_row();
  }
  dataset.features = std::move(features).build(static_cast<int64_t>(cols), order);
}

Dataset AttributeGraph::build(std::span<const std::string_view> label_words,
                              const LoadOptions& options) && {
  for (size_t i = 0; i < ids_.size(); ++i) {
    if (listed_[i] > 0) continue;
    throw_input("{}:{}: node {} of this edge is not listed as a node", source_, named_[i],
                shown(ids_[i]));
  }
  if (ids_.empty()) throw_input("{}: has no nodes", source_);
  Dataset dataset;
  const std::vector<std::string_view> ids(ids_.begin(), ids_.end());
  const std::vector<int32_t> order = rows_by_number(ids);  // row of every node; empty: in place
  std::vector<NodeId> place(ids.size());                   // node of every row
  std::iota(place.begin(), place.end(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    place[static_cast<size_t>(order[i])] = static_cast<NodeId>(i);
  }
  if (order.empty()) dataset.node_ids = copied(ids);
  if (const auto naming = attribute_of_.find(naming_); naming != attribute_of_.end()) {
    const std::vector<std::string_view> rows = texts(naming->second);
    const std::unordered_set<std::string_view> distinct(rows.begin(), rows.end());
    if (distinct.size() == rows.size() && !distinct.contains("")) {
      dataset.node_ids.resize(rows.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        dataset.node_ids[static_cast<size_t>(place[i])] = rows[i];
      }
      const std::vector<std::string_view> names(dataset.node_ids.begin(), dataset.node_ids.end());
      if (counts_from_zero(names)) dataset.node_ids.clear();
    }
  }
  const int32_t label = label_attribute(label_words);
  std::vector<std::string_view> labels(ids.size());
  if (label >= 0) {
    const std::vector<std::string_view> rows = texts(label);
    for (size_t i = 0; i < rows.size(); ++i) labels[static_cast<size_t>(place[i])] = rows[i];
  }
  number_labels(labels, dataset);
  read_features(label, order, dataset);
  read_splits(place, dataset);
  EdgeRows rows;
  for (const graph::Edge& edge : edges_) {
    rows.add({place[static_cast<size_t>(edge.from)], place[static_cast<size_t>(edge.to)]});
  }
  if (weighted_) rows.weights = std::move(weights_);
  set_graph(dataset, static_cast<NodeId>(ids.size()), rows, options, source_);
  return dataset;
}

}  // namespace dgat::data
