#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dgat/data/dataset.h"
#include "dgat/data/load.h"

namespace dgat::data {

/// A graph whose nodes have named attributes, as GraphML and GML files hold it, on its way to a
/// data set. Memory is proportional to what was added.
///
/// - label: the first attribute among the words given; `y` is none beside an `x` (a position), and
///   one called label is none when every node has another value (then it is a name).
/// - split, split0, split1, ...: train, val, test or nothing.
/// - every other attribute of numbers is a feature and must be there for every node; texts are not
///   read. A notice lists them.
class AttributeGraph {
 public:
  explicit AttributeGraph(std::string source) : source_(std::move(source)) {}

  /// Numbers of attributes, from 0; the same name gives the same number.
  int32_t attribute(const std::string& name, bool numeric);
  /// Value of the nodes that state none.
  void set_default(int32_t attribute, std::string value);
  /// A node that the file lists. Throws: InputError when it is listed twice.
  void add_node(std::string_view id, int64_t line);
  /// Of the last node added.
  void set(int32_t attribute, std::string value, int64_t line);
  /// Ends may be listed later. An empty weight is 1.
  void add_edge(std::string_view from, std::string_view to, std::string_view weight, int64_t line);

  /// The attribute that holds the names of nodes: they become Dataset::node_ids where they are all
  /// there and distinct.
  void name_nodes_by(const std::string& attribute) { naming_ = attribute; }

  /// Throws: InputError "source:line: ..." as the readers do.
  Dataset build(std::span<const std::string_view> label_words, const LoadOptions& options) &&;

 private:
  struct Attribute {
    std::string name;
    bool numeric = false, has_default = false;
    std::string default_value;
    int64_t values = 0;
  };
  struct Value {
    int32_t attribute = 0;
    graph::NodeId node = 0;
    int64_t line = 0;
    std::string text;
  };

  graph::NodeId number(std::string_view id, int64_t line);
  int32_t label_attribute(std::span<const std::string_view> words) const;
  std::vector<std::string_view> texts(int32_t attribute) const;
  void read_splits(const std::vector<graph::NodeId>& place, Dataset& dataset) const;
  void read_features(int32_t label, const std::vector<int32_t>& order, Dataset& dataset) const;
  bool is_split(const Attribute& attribute) const;

  std::string source_, naming_;
  std::vector<Attribute> attributes_;
  std::unordered_map<std::string, int32_t> attribute_of_;
  std::vector<Value> values_;
  std::deque<std::string> ids_;  // keeps its elements in place: the table points to them
  std::unordered_map<std::string_view, graph::NodeId> node_of_;
  std::vector<int64_t> listed_, named_;  // line where a node is listed (0: not) and first named
  graph::NodeId last_ = -1;
  std::vector<graph::Edge> edges_;
  std::vector<float> weights_;
  bool weighted_ = false;
};

}  // namespace dgat::data
