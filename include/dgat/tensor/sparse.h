#pragma once

#include <memory>
#include <mutex>

#include "dgat/tensor/message_graph.h"
#include "dgat/tensor/tape.h"

namespace dgat::tensor {

/// A constant sparse matrix with its transpose: an aggregation operator (normalised adjacency) or
/// sparse input features.
template <class T>
class SparseMatrix {
 public:
  /// CSR arrays; columns within a row in any order. Throws InternalError when they do not fit.
  SparseMatrix(int64_t rows, int64_t cols, std::span<const int64_t> offsets,
               std::span<const int32_t> columns, std::span<const T> values);

  /// The part of this rank: its rows, and its columns in transposed_csr(). With `split_columns`
  /// the matrix maps split rows to split rows (an aggregation operator); else it is a matrix of
  /// features, whose columns are whole on every rank.
  SparseMatrix part(dist::Communicator& ranks, bool split_columns) const;
  struct Share {
    dist::RowShare rows, columns;  ///< the part on this rank
    dist::Exchange from_columns;   ///< the rows of x that csr() reads, when columns are split
    dist::Exchange from_rows;      ///< the rows of a gradient that transposed_csr() reads
    bool split_columns = false;
    dist::RowSplit entries;  ///< of the whole csr(), by the rank that has them
  };
  const std::shared_ptr<const Share>& share() const { return share_; }  ///< null: whole

  int64_t rows() const { return forward_.rows(); }  ///< on this rank
  int64_t cols() const { return cols_; }            ///< that x has rows on this rank
  int64_t nonzeros() const { return static_cast<int64_t>(forward_.values.size()); }
  int64_t all_nonzeros() const { return share_ ? share_->entries.rows() : nonzeros(); }

  struct Csr {
    std::vector<int64_t> offsets;
    std::vector<int32_t> columns;
    std::vector<T> values;
    RowPlan plan;
    int64_t rows() const { return static_cast<int64_t>(offsets.size()) - 1; }
  };
  const Csr& csr() const { return forward_; }
  const Csr& transposed_csr() const { return transposed_; }
  /// Position in csr() of entry k of transposed_csr(), of a part in that of the whole matrix; made
  /// on the first call, 8 bytes per entry.
  std::span<const int64_t> transposed_positions() const;

 private:
  struct Positions {
    std::once_flag made;
    std::vector<int64_t> values;
  };
  SparseMatrix() = default;
  Csr forward_, transposed_;
  int64_t cols_ = 0;
  std::shared_ptr<const Share> share_;
  std::shared_ptr<Positions> positions_ = std::make_shared<Positions>();
};

/// Dropout of the stored entries of a sparse matrix: a function of the tape's seed, this stream and
/// the entry's position in csr(). Products with the same stream see the same mask.
struct EntryDropout {
  double p = 0;
  uint64_t stream = 0;
};

/// S x, with S constant: the gradient S^T g goes to x only. S must outlive the backward pass.
///
/// A linear layer on sparse features is spmm(features, W) + bias, with W stored [in, out]
/// (Parameter::transposed = true). With the weight file's [out, in] every access would be strided.
template <class T>
Var<T> spmm(Tape<T>& tape, const SparseMatrix<T>& matrix, const Var<T>& x);
/// dropout(S) W plus bias [1, m] (or an empty Var) in every row. Zeros stay zero, so that only the
/// stored entries need a mask; the values that are left are kept for the backward pass. The caller
/// leaves dropout.p at 0 outside training.
template <class T>
Var<T> sparse_linear(Tape<T>& tape, const SparseMatrix<T>& features, const Var<T>& weight,
                     const Var<T>& bias, const EntryDropout& dropout = {});

}  // namespace dgat::tensor
