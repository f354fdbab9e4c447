#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dgat/data/features.h"
#include "dgat/data/npz.h"

/// Matrices in compressed sparse rows as SciPy keeps them: PREFIXindptr [rows + 1], PREFIXindices
/// and PREFIXdata [entries], PREFIXshape [2]. Without PREFIXdata every entry is 1. Columns of a row
/// may come in any order and more than once. All functions throw InputError with file and key.
namespace dgat::data {

struct CsrArrays {
  int64_t rows = 0, cols = 0;
  std::vector<int64_t> offsets, columns;
  std::vector<float> values;  ///< empty: all 1
  float value(int64_t e) const { return values.empty() ? 1 : values[static_cast<size_t>(e)]; }
};

std::array<std::string, 4> csr_keys(const std::string& prefix);
bool has_csr(const NpzReader& file, const std::string& prefix);
std::array<int64_t, 2> csr_shape(const NpzReader& file, const std::string& prefix);
CsrArrays read_csr(const NpzReader& file, const std::string& prefix);

/// As node features; entries of the same place add up, as in SciPy.
Features features_of(const CsrArrays& csr, int64_t nodes, const NpzReader& file,
                     const std::string& prefix);

/// Writes a sparse matrix; PREFIXdata is left out when all entries are 1.
void add_csr(NpzWriter& archive, const std::string& prefix, const Features& features);

}  // namespace dgat::data
