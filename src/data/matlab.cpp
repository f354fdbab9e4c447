#include "dgat/data/matlab.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <string_view>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/data/feature_builder.h"
#include "dgat/data/limits.h"
#include "edge_rows.h"
#include "feature_rows.h"
#include "mat_file.h"
#include "printable.h"

namespace dgat::data {
namespace {

using graph::NodeId;

/// The variables of a file, and which of them were asked for.
class MatVariables {
 public:
  explicit MatVariables(const std::filesystem::path& path) : file_(path) {}

  const MatFile::Variable* find(std::span<const std::string_view> names) {
    const MatFile::Variable* found = file_.find(names);
    if (found != nullptr) read_.insert(found);
    return found;
  }
  const MatFile& file() const { return file_; }

  template <class... Args>
  [[noreturn]] void fail(const MatFile::Variable& variable, fmt::format_string<Args...> text,
                         Args&&... args) const {
    throw InputError(fmt::format("{}: {} ", file_.path(), printable(variable.name)) +
                     fmt::format(text, std::forward<Args>(args)...));
  }
  /// Every row of a feature matrix is a node.
  void check_rows(const MatFile::Variable& variable, NodeId nodes) const {
    if (variable.shape[0] == nodes) return;
    fail(variable, "is {} x {}; {} rows were expected, one per node", variable.shape[0],
         variable.shape[1], nodes);
  }
  void report_unread() const {
    std::string names;
    for (const MatFile::Variable& variable : file_.variables()) {
      if (read_.contains(&variable)) continue;
      names += (names.empty() ? "" : ", ") + printable(variable.name);
    }
    if (!names.empty()) notice(fmt::format("{}: not read: {}", file_.path(), names));
  }

 private:
  MatFile file_;
  std::set<const MatFile::Variable*> read_;
};

constexpr std::string_view kMatAdjacency[] = {"a", "adj", "homo", "network"},
                           kMatIndex[] = {"edge_index"}, kMatCount[] = {"num_nodes"},
                           kMatFeatures[] = {"features", "node_feat", "attributes"},
                           kMatLabels[] = {"label", "labels", "y"}, kMatFacebook[] = {"local_info"};

EdgeRows edges_of_matrix(const MatVariables& in, const MatFile::Variable& variable) {
  const MatMatrix matrix = in.file().read(variable);
  EdgeRows rows{.edges = {}, .weights = {}, .matrix = true};
  const auto add = [&](int64_t i, int64_t j, double value) {
    if (value == 0) return;
    const auto weight = static_cast<float>(value);
    if (!(weight > 0) || !std::isfinite(weight)) {
      in.fail(variable,
              "has {} in row {} and column {}; edge weights are positive numbers, and 0 is no edge",
              value, i, j);
    }
    rows.add({static_cast<NodeId>(i), static_cast<NodeId>(j)}, weight);
  };
  for (int64_t j = 0; j < matrix.cols; ++j) {
    if (matrix.sparse) {
      for (int64_t e = matrix.offsets[static_cast<size_t>(j)];
           e < matrix.offsets[static_cast<size_t>(j) + 1]; ++e) {
        add(matrix.row_of[static_cast<size_t>(e)], j, matrix.values[static_cast<size_t>(e)]);
      }
    } else {
      for (int64_t i = 0; i < matrix.rows; ++i) {
        add(i, j, matrix.values[static_cast<size_t>(j * matrix.rows + i)]);
      }
    }
  }
  return rows;
}

/// Ids are not checked against a number of nodes.
EdgeRows edges_of_index(const MatVariables& in, const MatFile::Variable& variable) {
  if (variable.sparse || variable.shape[0] != 2) {
    in.fail(variable, "is {} x {}; a dense matrix of two rows was expected", variable.shape[0],
            variable.shape[1]);
  }
  const MatMatrix matrix = in.file().read(variable);
  EdgeRows rows;
  for (size_t e = 0; e < matrix.values.size(); e += 2) {
    for (const double id : {matrix.values[e], matrix.values[e + 1]}) {
      if (!(id >= 0 && id < kMaxNodes && id == std::floor(id))) {
        in.fail(variable, "has {} in column {}; node ids are whole numbers from 0", id, e / 2);
      }
    }
    rows.add({static_cast<NodeId>(matrix.values[e]), static_cast<NodeId>(matrix.values[e + 1])});
  }
  return rows;
}

/// For edge_index: what is stated, the number of labels, or what the ids need.
int64_t count_nodes(MatVariables& in, const EdgeRows& rows) {
  if (const auto* stated = in.find(kMatCount)) {
    const std::vector<double> value = in.file().read(*stated).values;
    if (value.size() != 1 || !(value[0] >= 0 && value[0] <= kMaxNodes)) {
      in.fail(*stated, "must be one number from 0 to {}", kMaxNodes);
    }
    return static_cast<int64_t>(value[0]);
  }
  if (const auto* labels = in.find(kMatLabels)) return labels->shape[0] * labels->shape[1];
  if (const auto* features = in.find(kMatFeatures)) return features->shape[0];
  int64_t nodes = 0;
  for (const graph::Edge& edge : rows.edges) {
    nodes = std::max({nodes, int64_t{edge.from} + 1, int64_t{edge.to} + 1});
  }
  return nodes;
}

/// Classes are the values from 0, in increasing order. They keep their names unless these count.
void number_classes(const MatVariables& in, const MatFile::Variable& variable,
                    const std::vector<double>& values, Dataset& dataset) {
  std::set<int64_t> found;
  for (const double value : values) {
    if (std::isnan(value) || value < 0) continue;
    if (value != std::floor(value) || value > std::numeric_limits<int32_t>::max()) {
      in.fail(variable, "has the label {}; labels are whole numbers", value);
    }
    found.insert(static_cast<int64_t>(value));
    if (found.size() > static_cast<size_t>(kMaxClasses)) {
      in.fail(variable, "has more than {} different labels", kMaxClasses);
    }
  }
  const std::vector<int64_t> classes(found.begin(), found.end());
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i]) || values[i] < 0) continue;
    const auto place =
        std::lower_bound(classes.begin(), classes.end(), static_cast<int64_t>(values[i]));
    dataset.labels[i] = static_cast<int32_t>(place - classes.begin());
  }
  dataset.classes = static_cast<int32_t>(classes.size());
  const bool counted = classes.empty() || classes.back() + 1 == std::ssize(classes);
  for (const int64_t value : classes) {
    if (!counted) dataset.class_names.push_back(fmt::format("{}", value));
  }
}

Features mat_features(const MatVariables& in, const MatFile::Variable& variable, NodeId nodes) {
  in.check_rows(variable, nodes);
  const MatMatrix matrix = in.file().read(variable);
  if (matrix.values.empty() && (matrix.rows == 0 || matrix.cols == 0)) return {};
  if (!matrix.sparse) {
    FeatureBuilder builder(matrix.rows, matrix.cols);
    std::vector<float> row(static_cast<size_t>(matrix.cols));
    for (int64_t i = 0; i < matrix.rows; ++i) {
      for (size_t c = 0; c < row.size(); ++c) {
        row[c] = static_cast<float>(
            matrix.values[c * static_cast<size_t>(matrix.rows) + static_cast<size_t>(i)]);
      }
      builder.append(row);
    }
    return builder.finish();
  }
  std::vector<std::vector<std::pair<int32_t, float>>> entries(static_cast<size_t>(matrix.rows));
  for (int64_t c = 0; c < matrix.cols; ++c) {
    for (int64_t e = matrix.offsets[static_cast<size_t>(c)];
         e < matrix.offsets[static_cast<size_t>(c) + 1]; ++e) {
      auto& row = entries[static_cast<size_t>(matrix.row_of[static_cast<size_t>(e)])];
      const auto value = static_cast<float>(matrix.values[static_cast<size_t>(e)]);
      if (!row.empty() && row.back().first == c) {
        row.back().second += value;  // entries of the same place add up
      } else {
        row.emplace_back(static_cast<int32_t>(c), value);
      }
    }
  }
  FeatureRows rows;
  for (auto& row : entries) {
    for (const auto& [column, value] : row) rows.add(column, value);
    rows.end_row();
    row = {};
  }
  return std::move(rows).build(matrix.cols, {});
}

/// Columns of local_info: status, gender, major, second major, dormitory, year, high school.
void read_facebook(const MatVariables& in, const MatFile::Variable& variable, NodeId nodes,
                   Dataset& dataset) {
  constexpr std::array<const char*, 7> kColumns = {
      "status", "gender", "major", "second_major", "dormitory", "year", "high_school"};
  constexpr size_t kGender = 1;
  in.check_rows(variable, nodes);
  if (variable.sparse || variable.shape[1] != std::ssize(kColumns)) {
    in.fail(variable, "is {} x {}; a dense matrix of {} columns was expected", variable.shape[0],
            variable.shape[1], kColumns.size());
  }
  const MatMatrix matrix = in.file().read(variable);
  const auto rows = static_cast<size_t>(nodes);
  const auto column = [&](size_t c) { return std::span(matrix.values).subspan(c * rows, rows); };
  std::vector<double> labels;
  for (const double gender : column(kGender)) labels.push_back(gender - 1);  // 0 is missing
  number_classes(in, variable, labels, dataset);
  std::vector<std::vector<int32_t>> ones(rows);
  int32_t first = 0;
  for (size_t c = 0; c < kColumns.size(); ++c) {
    if (c == kGender) continue;
    std::vector<double> values(column(c).begin(), column(c).end());
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (const double value : values) {
      dataset.feature_names.push_back(fmt::format("{}={:g}", kColumns[c], value));
    }
    for (size_t i = 0; i < rows; ++i) {
      const auto place = std::lower_bound(values.begin(), values.end(), column(c)[i]);
      ones[i].push_back(first + static_cast<int32_t>(place - values.begin()));
    }
    first += static_cast<int32_t>(values.size());
  }
  FeatureRows features;
  for (const std::vector<int32_t>& row : ones) {
    for (const int32_t place : row) features.add(place, 1.0F);
    features.end_row();
  }
  dataset.features = std::move(features).build(first, {});
}

void read_mat_labels(const MatVariables& in, const MatFile::Variable& variable, NodeId nodes,
                     Dataset& dataset) {
  const auto [rows, cols] = variable.shape;
  if ((rows != 1 && cols != 1) || rows * cols != nodes) {
    in.fail(variable, "is {} x {}; one label for each of the {} nodes was expected", rows, cols,
            nodes);
  }
  const MatMatrix matrix = in.file().read(variable);
  std::vector<double> values = matrix.values;
  if (matrix.sparse) {
    values.assign(static_cast<size_t>(nodes), 0);
    for (int64_t c = 0; c < matrix.cols; ++c) {
      for (int64_t e = matrix.offsets[static_cast<size_t>(c)];
           e < matrix.offsets[static_cast<size_t>(c) + 1]; ++e) {
        const int64_t place = cols == 1 ? matrix.row_of[static_cast<size_t>(e)] : c;
        values[static_cast<size_t>(place)] = matrix.values[static_cast<size_t>(e)];
      }
    }
  }
  number_classes(in, variable, values, dataset);
}

}  // namespace

Dataset read_matlab(const std::filesystem::path& path, const LoadOptions& options) {
  MatVariables in(path);
  EdgeRows rows;
  int64_t count = 0;
  if (const auto* matrix = in.find(kMatAdjacency)) {
    if (matrix->shape[0] != matrix->shape[1]) {
      in.fail(*matrix, "is {} x {}; the adjacency matrix of a graph is square", matrix->shape[0],
              matrix->shape[1]);
    }
    count = matrix->shape[0];
    rows = edges_of_matrix(in, *matrix);
  } else if (const auto* index = in.find(kMatIndex)) {
    rows = edges_of_index(in, *index);
    count = count_nodes(in, rows);
    for (const graph::Edge& edge : rows.edges) {
      if (edge.from < count && edge.to < count) continue;
      in.fail(*index, "has the node id {}, and there are {} nodes", std::max(edge.from, edge.to),
              count);
    }
  } else {
    throw_input("{}: has no edges; they are a matrix A (or adj, homo, network) or edge_index",
                path.string());
  }
  check_node_count(count, in.file().file_bytes(), path.string());
  const auto nodes = static_cast<NodeId>(count);
  Dataset dataset;
  dataset.labels.assign(static_cast<size_t>(nodes), -1);
  set_graph(dataset, nodes, rows, options, path.string());
  const auto* labels = in.find(kMatLabels);
  const auto* features = in.find(kMatFeatures);
  if (labels != nullptr) read_mat_labels(in, *labels, nodes, dataset);
  if (features != nullptr) dataset.features = mat_features(in, *features, nodes);
  if (labels == nullptr && features == nullptr) {
    if (const auto* table = in.find(kMatFacebook)) read_facebook(in, *table, nodes, dataset);
  }
  in.report_unread();
  return dataset;
}

}  // namespace dgat::data
