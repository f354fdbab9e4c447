#include "npz_csr.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "dgat/core/error.h"
#include "feature_rows.h"
#include "npz_parts.h"

namespace dgat::data {
namespace {

/// A list of numbers of a certain length (any when negative).
template <class T>
std::vector<T> read_list(const NpzReader& file, const std::string& key, int64_t length) {
  const ArrayInfo info = file.info(key);
  if (info.shape.size() != 1 || (length >= 0 && info.shape[0] != length)) {
    bad_shape(file, key, info, length < 0 ? "[entries]" : fmt::format("[{}]", length));
  }
  return file.read<T>(key);
}

}  // namespace

std::array<std::string, 4> csr_keys(const std::string& prefix) {
  return {prefix + "indptr", prefix + "indices", prefix + "shape", prefix + "data"};
}

bool has_csr(const NpzReader& file, const std::string& prefix) {
  return file.contains(prefix + "indptr");
}

std::array<int64_t, 2> csr_shape(const NpzReader& file, const std::string& prefix) {
  const std::string key = prefix + "shape";
  const std::vector<int64_t> shape = read_list<int64_t>(file, key, 2);
  if (shape[0] < 0 || shape[1] < 0 || shape[1] > std::numeric_limits<int32_t>::max()) {
    throw_input("{}: {} states {} x {}, which is not the size of a matrix", file.path(), key,
                shape[0], shape[1]);
  }
  return {shape[0], shape[1]};
}

CsrArrays read_csr(const NpzReader& file, const std::string& prefix) {
  const auto [indptr, indices, shape, data] = csr_keys(prefix);
  CsrArrays csr;
  const auto size = csr_shape(file, prefix);
  csr.rows = size[0];
  csr.cols = size[1];
  if (csr.rows == std::numeric_limits<int64_t>::max()) {
    throw_input("{}: {} states {} rows", file.path(), shape, csr.rows);
  }
  csr.offsets = read_list<int64_t>(file, indptr, csr.rows + 1);
  csr.columns = read_list<int64_t>(file, indices, -1);
  const auto entries = static_cast<int64_t>(csr.columns.size());
  if (file.contains(data)) csr.values = read_list<float>(file, data, entries);
  if (csr.offsets.front() != 0 || csr.offsets.back() != entries) {
    throw_input("{}: {} goes from {} to {}; it must go from 0 to the {} entries of {}", file.path(),
                indptr, csr.offsets.front(), csr.offsets.back(), entries, indices);
  }
  for (size_t i = 1; i < csr.offsets.size(); ++i) {
    if (csr.offsets[i] < csr.offsets[i - 1]) {
      throw_input("{}: {} decreases from {} to {} in row {}", file.path(), indptr,
                  csr.offsets[i - 1], csr.offsets[i], i);
    }
  }
  for (size_t e = 0; e < csr.columns.size(); ++e) {
    if (csr.columns[e] < 0 || csr.columns[e] >= csr.cols) {
      throw_input("{}: {} has column {} in row {}; columns are 0 to {}", file.path(), indices,
                  csr.columns[e], e, csr.cols - 1);
    }
  }
  return csr;
}

Features features_of(const CsrArrays& csr, int64_t nodes, const NpzReader& file,
                     const std::string& prefix) {
  if (csr.rows != nodes) {
    throw_input("{}: {}shape states {} rows for {} nodes", file.path(), prefix, csr.rows, nodes);
  }
  FeatureRows rows;
  std::vector<std::pair<int32_t, float>> row;
  for (int64_t i = 0; i < csr.rows; ++i) {
    row.clear();
    for (int64_t e = csr.offsets[static_cast<size_t>(i)];
         e < csr.offsets[static_cast<size_t>(i) + 1]; ++e) {
      row.emplace_back(static_cast<int32_t>(csr.columns[static_cast<size_t>(e)]), csr.value(e));
    }
    std::stable_sort(row.begin(), row.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t at = 0; at < row.size();) {
      const int32_t column = row[at].first;
      float sum = 0;
      for (; at < row.size() && row[at].first == column; ++at) sum += row[at].second;
      rows.add(column, sum);
    }
    rows.end_row();
  }
  return std::move(rows).build(csr.cols, {});
}

void add_csr(NpzWriter& archive, const std::string& prefix, const Features& features) {
  const auto [indptr, indices, shape, data] = csr_keys(prefix);
  archive.add(indptr, {features.rows() + 1}, features.offsets());
  archive.add(indices, {features.nonzeros()}, features.columns());
  archive.add(shape, {2}, std::vector<int64_t>{features.rows(), features.cols()});
  const auto values = features.values();
  if (!std::all_of(values.begin(), values.end(), [](float v) { return v == 1.0F; })) {
    archive.add(data, {features.nonzeros()}, values);
  }
}

}  // namespace dgat::data
