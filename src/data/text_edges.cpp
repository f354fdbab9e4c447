#include "text_edges.h"

#include <algorithm>
#include <array>

#include "dgat/core/interrupt.h"
#include "dgat/core/progress.h"

namespace dgat::data {
namespace {

using Notices = std::vector<std::string>;

constexpr std::array<std::string_view, 26> kEdgeWords = {
    "source", "target", "src", "dst",  "from", "to",     "node",     "node1",      "node2",
    "node_1", "node_2", "id",  "id1",  "id2",  "id_1",   "id_2",     "node_id",    "u",
    "v",      "i",      "j",   "head", "tail", "sender", "receiver", "destination"};
/// Headers of published files. A notice says that such a row was taken for one.
constexpr std::array<std::string_view, 13> kOtherEdgeWords = {
    "citing", "cited",     "source_id", "target_id", "src_id",   "dst_id",  "from_id",
    "to_id",  "from_node", "to_node",   "follower",  "followee", "followed"};
constexpr std::array<std::string_view, 4> kWeightWords = {"weight", "weights", "w", "edge_weight"};

bool is_number(std::string_view text) {
  double value = 0;
  return parse_real(text, value);
}

enum class Header { kNone, kUsual, kUnusual };

Header header_of(const TextReader& first, const IdTable* known) {
  const std::string_view a = first.field(0), b = first.field(1);
  const bool a_known = known != nullptr && known->contains(a);
  const bool b_known = known != nullptr && known->contains(b);
  if (is_one_of(a, kEdgeWords) && is_one_of(b, kEdgeWords) && !(a_known && b_known)) {
    return Header::kUsual;
  }
  if (is_one_of(a, kOtherEdgeWords) && is_one_of(b, kOtherEdgeWords) && !a_known && !b_known) {
    return Header::kUnusual;
  }
  const std::vector<std::string> next = first.peek();
  if (next.size() < 2) return Header::kNone;
  if (!a_known && !b_known && first.size() > 2 && next.size() > 2 && is_number(next[2]) &&
      !is_number(first.field(2))) {
    return Header::kUnusual;  // a word above a column of numbers
  }
  if (known != nullptr) {
    const bool next_known = known->contains(next[0]) && known->contains(next[1]);
    return !a_known && !b_known && next_known ? Header::kUnusual : Header::kNone;
  }
  const bool numbers_follow = is_number(next[0]) && is_number(next[1]);
  return numbers_follow && !is_number(a) && !is_number(b) ? Header::kUnusual : Header::kNone;
}

/// Where the weights of a file are.
struct WeightColumn {
  size_t column = 0;  ///< 0: there are none
  bool dictionary = false;
};

std::string listed(std::span<const std::string_view> fields) {
  std::string text;
  for (const std::string_view field : fields) text += (text.empty() ? "" : ", ") + shown(field);
  return text;
}

WeightColumn weights_by_header(const TextReader& header, Notices& notices) {
  WeightColumn found;
  std::vector<std::string_view> unread;
  for (size_t c = 2; c < header.size(); ++c) {
    if (found.column == 0 && is_one_of(header.field(c), kWeightWords)) {
      found.column = c;
    } else {
      unread.push_back(header.field(c));
    }
  }
  if (!unread.empty()) {
    notices.push_back(
        fmt::format("{}: columns that are not read: {}; edge weights are in a column called "
                    "weight",
                    header.name(), listed(unread)));
  }
  return found;
}

WeightColumn weights_by_first_row(const TextReader& row, Notices& notices) {
  if (row.size() < 3) return {};
  if (row.field(2).starts_with('{')) return {.column = 2, .dictionary = true};
  const bool weights = is_number(row.field(2));
  if (weights) {
    notices.push_back(
        fmt::format("{}: the third column is read as edge weights; `dgat convert --unweighted` "
                    "leaves them out",
                    row.name()));
  }
  if (!weights || row.size() > 3) {
    notices.push_back(fmt::format("{}: columns behind the {} are not read", row.name(),
                                  weights ? "weights" : "two ids"));
  }
  return {.column = weights ? size_t{2} : size_t{0}};
}

/// {'weight': 0.5, ...} as NetworkX writes it; 1 where there is no weight.
std::string_view weight_in_dictionary(const TextReader& row) {
  std::string_view text = row.field(2);
  text = {text.data(), static_cast<size_t>(row.fields().back().data() + row.fields().back().size() -
                                           text.data())};
  const size_t key = text.find("'weight'");
  const size_t colon = key == std::string_view::npos ? key : text.find(':', key);
  if (colon == std::string_view::npos) return "1";
  text = text.substr(colon + 1);
  text = text.substr(0, text.find_first_of(",}"));
  while (text.starts_with(' ')) text.remove_prefix(1);
  return text;
}

float weight_of(const TextReader& row, const WeightColumn& column) {
  if (column.dictionary && row.size() < 3) return 1;
  if (row.size() <= column.column) {
    row.fail("the row has no weight, but the first row has one; every edge needs one or none");
  }
  const std::string_view text =
      column.dictionary ? weight_in_dictionary(row) : row.field(column.column);
  const float weight = row.real(text, "the weight");
  if (!(weight > 0)) {
    row.fail("the weight must be positive, got {}; drop the edge or the column", shown(text));
  }
  return weight;
}

/// A header with unknown words looks like an edge between two nodes that have no other edge.
void question_first_row(const TextReader& reader, int64_t line, const EdgeRows& rows) {
  constexpr size_t kFew = 3;
  if (rows.edges.size() < kFew) return;
  const graph::Edge first = rows.edges.front();
  const bool again =
      std::any_of(rows.edges.begin() + 1, rows.edges.end(), [&](const graph::Edge& edge) {
        return edge.from == first.from || edge.to == first.from || edge.from == first.to ||
               edge.to == first.to;
      });
  if (again) return;
  notice(
      fmt::format("{}:{}: its two ids occur in no other row; if it is a header, call its columns "
                  "source and target",
                  reader.name(), line));
}

}  // namespace

EdgeRows read_edge_rows(TextReader& reader, const IdTable* known, const LoadOptions& options,
                        const std::function<graph::NodeId(std::string_view)>& number) {
  EdgeRows rows;
  WeightColumn weights;
  Notices notices;  // printed when the file turned out to be one of edges
  bool first = true;
  int64_t doubtful = 0;  // line of a first row of two words that was taken for an edge
  while (reader.next()) {
    if ((rows.edges.size() & 0xFFFFF) == 0) throw_if_interrupted("read edges");
    if (reader.size() < 2) {
      reader.fail("an edge needs two node ids, got one field: {}", shown(reader.field(0)));
    }
    if (first) {
      first = false;
      const Header header = header_of(reader, known);
      if (!options.unweighted) {
        weights = header == Header::kNone ? weights_by_first_row(reader, notices)
                                          : weights_by_header(reader, notices);
      }
      if (header == Header::kUnusual) {
        notices.push_back(fmt::format("{}:{}: {} is read as a header", reader.name(), reader.line(),
                                      listed(reader.fields().first(2))));
      }
      if (header != Header::kNone) continue;
      const bool words = !is_number(reader.field(0)) && !is_number(reader.field(1));
      if (known == nullptr && words) doubtful = reader.line();
    }
    const graph::NodeId from = number(reader.field(0));
    const graph::Edge edge{from, number(reader.field(1))};
    if (weights.column == 0) {
      rows.add(edge);
    } else {
      rows.add(edge, weight_of(reader, weights));
    }
  }
  for (const std::string& text : notices) notice(text);
  if (doubtful > 0) question_first_row(reader, doubtful, rows);
  return rows;
}

}  // namespace dgat::data
