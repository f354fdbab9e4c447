// The CSV form of splits: id,split0,split1,... with train, val, test or nothing in every cell.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <istream>
#include <sstream>
#include <string_view>
#include <unordered_map>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/progress.h"
#include "dgat/data/splits.h"

namespace dgat::data {
namespace fs = std::filesystem;
namespace {

using graph::NodeId;

/// Cells of one line: commas, double quotes around a cell that holds one, "" for a quote.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

std::string cell_text(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

/// Finds nodes by their original id, or by number where a data set has none.
class NodeFinder {
 public:
  explicit NodeFinder(const Dataset& dataset) : nodes_(dataset.graph.nodes()) {
    for (size_t i = 0; i < dataset.node_ids.size(); ++i) {
      by_id_.emplace(dataset.node_ids[i], static_cast<NodeId>(i));
    }
  }
  /// -1 when there is no such node.
  NodeId find(const std::string& id) const {
    if (!by_id_.empty()) {
      const auto found = by_id_.find(id);
      return found == by_id_.end() ? -1 : found->second;
    }
    NodeId node = -1;
    const auto [rest, error] = std::from_chars(id.data(), id.data() + id.size(), node);
    const bool whole = error == std::errc() && rest == id.data() + id.size();
    return whole && node >= 0 && node < nodes_ ? node : -1;
  }

 private:
  NodeId nodes_;
  std::unordered_map<std::string, NodeId> by_id_;
};

}  // namespace

std::vector<Split> read_split_csv(const fs::path& path, const Dataset& dataset) {
  std::istringstream in(read_whole_file(path));
  const std::string file = path.string();
  const NodeFinder finder(dataset);
  std::vector<Split> splits;
  std::vector<bool> listed(dataset.labels.size(), false);
  int64_t number = 0, unlabelled = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> cells = cells_of(line);
    if (splits.empty()) {  // the header
      if (cells.size() < 2 || cells[0] != "id") {
        throw_input("{}:{}: expected a header like id,split0,split1, found {}", file, number, line);
      }
      splits.resize(cells.size() - 1);
      continue;
    }
    if (cells.size() != splits.size() + 1) {
      throw_input("{}:{}: has {} cells, the header has {}", file, number, cells.size(),
                  splits.size() + 1);
    }
    const NodeId node = finder.find(cells[0]);
    if (node < 0) throw_input("{}:{}: the data set has no node {}", file, number, cells[0]);
    if (listed[static_cast<size_t>(node)]) {
      throw_input("{}:{}: node {} is listed twice", file, number, cells[0]);
    }
    listed[static_cast<size_t>(node)] = true;
    const bool labelled = dataset.labels[static_cast<size_t>(node)] >= 0;
    for (size_t k = 0; k < splits.size(); ++k) {
      const std::string& part = cells[k + 1];
      if (part.empty()) continue;
      std::vector<NodeId>* nodes = part == "train"  ? &splits[k].train
                                   : part == "val"  ? &splits[k].val
                                   : part == "test" ? &splits[k].test
                                                    : nullptr;
      if (nodes == nullptr) {
        throw_input("{}:{}: split {} says {}; expected train, val, test or an empty cell", file,
                    number, k, part);
      }
      if (labelled) {
        nodes->push_back(node);
      } else {
        ++unlabelled;
      }
    }
  }
  if (splits.empty()) throw_input("{}: is empty; expected a header like id,split0,split1", file);
  for (Split& split : splits) {
    for (auto* part : {&split.train, &split.val, &split.test}) {
      std::sort(part->begin(), part->end());
    }
  }
  if (unlabelled > 0) notice(fmt::format("{}: left out {} unlabelled entries", file, unlabelled));
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
  write_atomically(path, [&](std::ostream& out) {
    out << "id";
    for (size_t k = 0; k < part.size(); ++k) out << ",split" << k;
    out << '\n';
    for (size_t i = 0; i < nodes; ++i) {
      out << (dataset.node_ids.empty() ? std::to_string(i) : cell_text(dataset.node_ids[i]));
      for (const auto& column : part) out << ',' << column[i];
      out << '\n';
    }
  });
}

}  // namespace dgat::data
