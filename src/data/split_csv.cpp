// The CSV form of splits: id,split0,split1,... with train, val, test or nothing in every cell.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "dgat/core/progress.h"
#include "dgat/data/splits.h"
#include "dgat/data/text_file.h"

namespace dgat::data {
namespace fs = std::filesystem;
namespace {

using graph::NodeId;

/// Finds nodes by their original id, or by number where a data set has none.
class NodeFinder {
 public:
  explicit NodeFinder(const Dataset& dataset) : nodes_(dataset.graph.nodes()) {
    for (size_t i = 0; i < dataset.node_ids.size(); ++i) {
      by_id_.emplace(dataset.node_ids[i], static_cast<NodeId>(i));
    }
  }
  /// -1 when there is no such node.
  NodeId find(std::string_view id) const {
    if (!by_id_.empty()) {
      const auto found = by_id_.find(id);
      return found == by_id_.end() ? -1 : found->second;
    }
    int64_t node = -1;
    const bool whole = parse_integer(id, node);
    return whole && node >= 0 && node < nodes_ ? static_cast<NodeId>(node) : -1;
  }

 private:
  NodeId nodes_;
  std::unordered_map<std::string_view, NodeId> by_id_;  ///< views of the data set's ids
};

}  // namespace

std::vector<Split> read_split_csv(const fs::path& path, const Dataset& dataset) {
  TextReader reader(path);
  const NodeFinder finder(dataset);
  if (!reader.next()) reader.fail_file("is empty; expected a header like id,split0,split1");
  if (reader.size() < 2 || reader.field(0) != "id") {
    reader.fail("expected a header like id,split0,split1, found {}", shown(reader.field(0)));
  }
  std::vector<Split> splits(reader.size() - 1);
  std::vector<bool> listed(dataset.labels.size(), false);
  int64_t unlabelled = 0;
  while (reader.next()) {
    if (reader.size() != splits.size() + 1) {
      reader.fail("has {} cells, the header has {}", reader.size(), splits.size() + 1);
    }
    const std::string_view id = reader.field(0);
    const NodeId node = finder.find(id);
    if (node < 0) reader.fail("the data set has no node {}", shown(id));
    if (listed[static_cast<size_t>(node)]) reader.fail("node {} is listed twice", shown(id));
    listed[static_cast<size_t>(node)] = true;
    const bool labelled = dataset.labels[static_cast<size_t>(node)] >= 0;
    for (size_t k = 0; k < splits.size(); ++k) {
      const std::string_view part = reader.field(k + 1);
      if (part.empty()) continue;
      std::vector<NodeId>* nodes = part == "train"  ? &splits[k].train
                                   : part == "val"  ? &splits[k].val
                                   : part == "test" ? &splits[k].test
                                                    : nullptr;
      if (nodes == nullptr) {
        reader.fail("split {} says {}; expected train, val, test or an empty cell", k, shown(part));
      }
      if (labelled) {
        nodes->push_back(node);
      } else {
        ++unlabelled;
      }
    }
  }
  for (Split& split : splits) {
    for (auto* part : {&split.train, &split.val, &split.test}) {
      std::sort(part->begin(), part->end());
    }
  }
  if (unlabelled > 0) {
    notice(fmt::format("{}: left out {} unlabelled entries", path.string(), unlabelled));
  }
  return splits;
}

void write_split_csv(const Dataset& dataset, const fs::path& path) {
  const size_t nodes = dataset.labels.size();
  std::vector<std::vector<const char*>> part(dataset.splits.size(),
                                             std::vector<const char*>(nodes, ""));
  for (size_t k = 0; k < dataset.splits.size(); ++k) {
    const auto mark = [&](const std::vector<NodeId>& members, const char* name) {
      for (const NodeId i : members) part[k][static_cast<size_t>(i)] = name;
    };
    mark(dataset.splits[k].train, "train");
    mark(dataset.splits[k].val, "val");
    mark(dataset.splits[k].test, "test");
  }
  TextWriter out(path);
  out.print("id");
  for (size_t k = 0; k < part.size(); ++k) out.print(",split{}", k);
  out.print("\n");
  for (size_t i = 0; i < nodes; ++i) {
    if (dataset.node_ids.empty()) {
      out.print("{}", i);
    } else {
      out.print_field(dataset.node_ids[i]);
    }
    for (const auto& column : part) out.print(",{}", column[i]);
    out.print("\n");
  }
  out.commit();
}

}  // namespace dgat::data
