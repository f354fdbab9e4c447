#include "dgat/data/matrix_market.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

#include "dgat/core/interrupt.h"
#include "dgat/core/progress.h"
#include "dgat/data/text_file.h"
#include "edge_rows.h"

namespace dgat::data {
namespace {

constexpr std::string_view kExpectedBanner =
    "'%%MatrixMarket matrix coordinate pattern|real|integer general|symmetric' was expected";

struct Banner {
  bool has_values = false;
  bool symmetric = false;
};

Banner read_banner(TextReader& reader) {
  std::string_view raw;
  if (!reader.next_raw_line(raw)) reader.fail_file("is empty; {}", kExpectedBanner);
  std::string line(raw);
  std::transform(line.begin(), line.end(), line.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  TextReader words(line, reader.name(), {.separator = ' ', .comments = "", .quotes = false});
  if (!words.next() || words.size() != 5 || words.field(0) != "%%matrixmarket" ||
      words.field(1) != "matrix") {
    reader.fail("not a MatrixMarket banner: {}; {}", shown(raw), kExpectedBanner);
  }
  const std::string_view form = words.field(2), field = words.field(3), symmetry = words.field(4);
  if (form != "coordinate") {
    reader.fail("form {} is not read; a graph needs the coordinate form", shown(form));
  }
  if (field != "pattern" && field != "real" && field != "integer") {
    reader.fail("field {} is not read; use pattern, real or integer", shown(field));
  }
  if (symmetry != "general" && symmetry != "symmetric") {
    reader.fail("symmetry {} is not read; use general or symmetric", shown(symmetry));
  }
  return {.has_values = field != "pattern", .symmetric = symmetry == "symmetric"};
}

struct Sizes {
  graph::NodeId nodes = 0;
  int64_t entries = 0;
};

Sizes read_sizes(TextReader& reader) {
  if (!reader.next()) reader.fail_file("ends before the line 'rows cols entries'");
  if (reader.size() != 3) {
    reader.fail("the size line must be 'rows cols entries', got {} fields", reader.size());
  }
  const int64_t rows = reader.integer(reader.field(0), "number of rows");
  const int64_t cols = reader.integer(reader.field(1), "number of columns");
  const int64_t entries = reader.integer(reader.field(2), "number of entries");
  if (rows != cols) {
    reader.fail("the matrix is {} x {}; the adjacency matrix of a graph is square", rows, cols);
  }
  if (rows < 0 || rows >= std::numeric_limits<graph::NodeId>::max()) {
    reader.fail("{} rows; a graph has 0 to 2147483646 nodes", rows);
  }
  if (entries < 0) reader.fail("the number of entries is negative: {}", entries);
  return {.nodes = static_cast<graph::NodeId>(rows), .entries = entries};
}

}  // namespace

Dataset read_matrix_market(const std::filesystem::path& path, const LoadOptions& options) {
  TextReader reader(path, {.separator = ' ', .comments = "%", .quotes = false});
  const Banner banner = read_banner(reader);
  const Sizes sizes = read_sizes(reader);
  const size_t columns = banner.has_values ? 3 : 2;
  // One triangle of a symmetric matrix is enough: an entry beyond it repeats an edge.
  EdgeRows rows{.edges = {}, .weights = {}, .matrix = !banner.symmetric};
  // The claimed count is believed up to a point: a short file may claim anything.
  rows.edges.reserve(static_cast<size_t>(std::min<int64_t>(sizes.entries, 1 << 20)));
  int64_t read = 0;
  while (reader.next()) {
    if ((read & 0xFFFFF) == 0) throw_if_interrupted("matrix market");
    if (++read > sizes.entries) {
      reader.fail("more entries than the {} that the size line promises", sizes.entries);
    }
    if (reader.size() != columns) {
      reader.fail("{} fields were expected ({}), got {}", columns,
                  banner.has_values ? "row, column, value" : "row, column", reader.size());
    }
    std::array<int64_t, 2> ends{};
    for (size_t i = 0; i < 2; ++i) {
      ends[i] = reader.integer(reader.field(i), i == 0 ? "row" : "column");
      if (ends[i] < 1 || ends[i] > sizes.nodes) {
        reader.fail("{} {} is outside [1, {}]; MatrixMarket counts from 1",
                    i == 0 ? "row" : "column", ends[i], sizes.nodes);
      }
    }
    float weight = 1;
    if (banner.has_values) {
      weight = reader.real(reader.field(2), "value");
      if (weight == 0.0F) continue;
      if (options.unweighted) weight = 1;
      if (weight < 0) {
        reader.fail("value {} is negative; edge weights are positive, and 0 is no edge",
                    shown(reader.field(2)));
      }
    }
    const graph::Edge edge{static_cast<graph::NodeId>(ends[0] - 1),
                           static_cast<graph::NodeId>(ends[1] - 1)};
    rows.add(edge, weight);
    if (banner.symmetric && options.directed && edge.from != edge.to) {
      rows.add({edge.to, edge.from}, weight);
    }
  }
  if (read != sizes.entries) {
    reader.fail_file("has {} entries, but its size line promises {}; the file is cut or miscounted",
                     read, sizes.entries);
  }
  // A damaged size line must not cost gigabytes; no real graph is that empty.
  if (sizes.nodes > (1 << 24) && read < sizes.nodes / 1000) {
    reader.fail_file("claims {} nodes but has {} entries; the size line is damaged", sizes.nodes,
                     read);
  }
  Dataset dataset;
  dataset.name =
      path.stem().extension() == ".mtx" ? path.stem().stem().string() : path.stem().string();
  set_graph(dataset, sizes.nodes, rows, options, path.string());
  dataset.labels.assign(static_cast<size_t>(sizes.nodes), -1);
  return dataset;
}

void write_matrix_market(const Dataset& dataset, const std::filesystem::path& path) {
  const bool labelled = std::any_of(dataset.labels.begin(), dataset.labels.end(),
                                    [](int32_t label) { return label >= 0; });
  if (labelled || !dataset.features.empty() || !dataset.splits.empty() ||
      !dataset.node_ids.empty()) {
    notice(path.string() +
           ": MatrixMarket holds the edges only; the rest of the data set is not "
           "written");
  }
  TextWriter out(path);
  const bool directed = dataset.graph.directed();
  const std::vector<float> weights = dataset.graph.edge_weights();
  out.print("%%MatrixMarket matrix coordinate {} {}\n", weights.empty() ? "pattern" : "real",
            directed ? "general" : "symmetric");
  out.print("{} {} {}\n", dataset.graph.nodes(), dataset.graph.nodes(), dataset.graph.edges());
  const std::vector<graph::Edge> edges = dataset.graph.edge_list();
  for (size_t e = 0; e < edges.size(); ++e) {
    // An undirected edge comes as from < to; the lower triangle has row > column.
    const auto [from, to] = edges[e];
    out.print("{} {}", (directed ? from : to) + 1, (directed ? to : from) + 1);
    if (!weights.empty()) out.print(" {}", weights[e]);
    out.print("\n");
  }
  out.commit();
}

}  // namespace dgat::data
