#include "dgat/tensor/sparse.h"

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/tensor/gemm.h"
#include "dgat/tensor/split.h"
#include "dropout_mask.h"
#include "kernels/kernels.h"
#include "reduce_rows.h"

namespace dgat::tensor {
namespace {

/// Whether x is too large for what a core has as a cache of its own, more or less.
template <class T>
bool is_far(const Matrix<T>& x) {
  return static_cast<size_t>(x.size()) * sizeof(T) > size_t{1} << 20;
}

/// out = the matrix with the pattern of `csr` and these values, times x.
template <class T>
void product_into(const typename SparseMatrix<T>::Csr& csr, const T* values, const Matrix<T>& x,
                  Matrix<T>& out) {
  const RowPlan& plan = csr.plan;
  Matrix<T> partial(plan.parts, x.cols());
  const auto sparse_rows = kernels<T>().sparse_rows;
  parallel_blocks(plan.blocks(), 1, [&](int64_t block, int64_t, int64_t) {
    const auto end = plan.pieces.begin() + plan.block_offsets[static_cast<size_t>(block) + 1];
    auto piece = plan.pieces.begin() + plan.block_offsets[static_cast<size_t>(block)];
    while (piece != end) {
      if (piece->part >= 0) {
        sparse_rows({&piece->begin, &piece->end, 1, csr.columns.data(), values}, x.data(), x.cols(),
                    is_far(x), partial.row(piece->part));
        ++piece;
        continue;
      }
      // Whole rows follow one another.
      const auto last = std::find_if(piece, end, [](const RowPiece& p) { return p.part >= 0; });
      const int64_t* offsets = csr.offsets.data() + piece->row;
      sparse_rows({offsets, offsets + 1, last - piece, csr.columns.data(), values}, x.data(),
                  x.cols(), is_far(x), out.row(piece->row));
      piece = last;
    }
  });
  add_parts(plan, partial, out);
}

template <class T>
Matrix<T> product(const typename SparseMatrix<T>::Csr& csr, const T* values, const Matrix<T>& x) {
  Matrix<T> out(csr.rows(), x.cols());
  product_into(csr, values, x, out);
  return out;
}

/// The stored entries in the order of csr() after dropout, a column.
template <class T>
Matrix<T> dropped_values(const SparseMatrix<T>& matrix, const DropoutMask& mask) {
  constexpr int64_t kGrain = 1 << 13;  // a multiple of 64, as the dropout kernels need
  const auto& share = matrix.share();
  const int64_t first = share ? share->entries.begin(share->rows.ranks->rank()) : 0;
  Matrix<T> out(matrix.nonzeros(), 1);
  parallel_for(out.size(), kGrain, [&](int64_t begin, int64_t end) {
    dropout_at(mask, first + begin, matrix.csr().values.data() + begin, out.data() + begin,
               end - begin);
  });
  return out;
}

/// Values in the order of csr(), a column, in that of transposed_csr(). Ranks call it together.
template <class T>
Matrix<T> transposed_order(const SparseMatrix<T>& matrix, const Matrix<T>& own) {
  Matrix<T> all;
  const auto& share = matrix.share();
  if (share) all = all_rows(*share->rows.ranks, share->entries, own);
  const Matrix<T>& values = share ? all : own;
  const std::span<const int64_t> positions = matrix.transposed_positions();
  Matrix<T> out(std::ssize(positions), 1);
  parallel_for(out.size(), 1 << 13, [&](int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; ++e) {
      out.data()[e] = values.data()[positions[static_cast<size_t>(e)]];
    }
  });
  return out;
}

/// Adds S^T g to a slot, with other values in the order of transposed_csr() or none.
template <class T>
void accumulate_transposed_product(Tape<T>& tape, int32_t slot, const SparseMatrix<T>& matrix,
                                   const Matrix<T>& values, const Matrix<T>& g) {
  if (slot < 0) return;
  const auto& csr = matrix.transposed_csr();
  const T* numbers = values.empty() ? csr.values.data() : values.data();
  if (const auto& share = matrix.share()) {
    Matrix<T> own = product(csr, numbers, exchanged(*share->rows.ranks, share->from_rows, g));
    return tape.accumulate(slot,
                           share->split_columns ? std::move(own) : all_rows(share->columns, own));
  }
  const auto into = tape.target(slot, matrix.cols(), g.cols());
  if (into.fresh) return product_into(csr, numbers, g, into.gradient);
  tape.accumulate(slot, product(csr, numbers, g));
}

template <class T>
void add_to_rows(const Matrix<T>& bias, Matrix<T>& out) {
  const int64_t cols = out.cols();
  expects(bias.size() == cols, "sparse_linear: one bias per column");
  parallel_for(out.rows(), std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, cols)),
               [&](int64_t begin, int64_t end) {
                 const T* b = bias.data();
                 for (int64_t i = begin; i < end; ++i) {
                   T* row = out.row(i);
                   for (int64_t c = 0; c < cols; ++c) row[c] += b[c];
                 }
               });
}

}  // namespace

template <class T>
SparseMatrix<T>::SparseMatrix(int64_t rows, int64_t cols, std::span<const int64_t> offsets,
                              std::span<const int32_t> columns, std::span<const T> values) {
  expects(static_cast<int64_t>(offsets.size()) == rows + 1 && offsets[0] == 0 &&
              offsets.back() == static_cast<int64_t>(columns.size()) &&
              columns.size() == values.size(),
          "SparseMatrix: CSR arrays fit");
  forward_.offsets.assign(offsets.begin(), offsets.end());
  forward_.columns.assign(columns.begin(), columns.end());
  forward_.values.assign(values.begin(), values.end());
  forward_.plan = plan_rows(forward_.offsets);
  cols_ = cols;

  auto& start = transposed_.offsets;
  start.assign(static_cast<size_t>(cols) + 1, 0);
  for (const int32_t column : columns) {
    expects(column >= 0 && column < cols, "SparseMatrix: columns lie in [0, cols)");
    ++start[static_cast<size_t>(column) + 1];
  }
  for (size_t j = 1; j < start.size(); ++j) start[j] += start[j - 1];
  std::vector<int64_t> next(start.begin(), start.end() - 1);
  transposed_.columns.resize(columns.size());
  transposed_.values.resize(columns.size());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t e = offsets[static_cast<size_t>(i)]; e < offsets[static_cast<size_t>(i) + 1];
         ++e) {
      const auto from = static_cast<size_t>(e);
      const auto to = static_cast<size_t>(next[static_cast<size_t>(columns[from])]++);
      transposed_.columns[to] = static_cast<int32_t>(i);
      transposed_.values[to] = values[from];
    }
  }
  transposed_.plan = plan_rows(start);
}

template <class T>
SparseMatrix<T> SparseMatrix<T>::part(dist::Communicator& ranks, bool split_columns) const {
  expects(!share_, "SparseMatrix: a part of the whole matrix");
  auto share = std::make_shared<Share>();
  share->rows = dist::share_of(ranks, rows());
  share->columns = dist::share_of(ranks, cols());
  share->split_columns = split_columns;
  const dist::RowSplit &own = *share->rows.rows, &columns = *share->columns.rows;
  // The rows of a CSR matrix on this rank, columns counted by place().
  const auto part_of = [&](const Csr& all, const dist::RowSplit& split, const auto& place) {
    const auto begin = all.offsets.begin() + split.begin(ranks.rank());
    Csr csr;
    csr.offsets.assign(begin, begin + split.count(ranks.rank()) + 1);
    const int64_t first = csr.offsets.front(), last = csr.offsets.back();
    for (int64_t& offset : csr.offsets) offset -= first;
    csr.values.assign(all.values.begin() + first, all.values.begin() + last);
    for (int64_t e = first; e < last; ++e) {
      csr.columns.push_back(place(all.columns[static_cast<size_t>(e)]));
    }
    csr.plan = plan_rows(csr.offsets);
    return csr;
  };
  SparseMatrix part;
  part.cols_ = cols_;
  if (split_columns) {
    dist::Needed read = dist::needed_rows(ranks, forward_.offsets, forward_.columns, own, columns);
    part.forward_ = part_of(forward_, own, [&](int32_t j) { return read.place(j); });
    part.cols_ = share->columns.count();
    share->from_columns = std::move(read.pattern);
  } else {
    part.forward_ = part_of(forward_, own, [](int32_t j) { return j; });
  }
  dist::Needed back =
      dist::needed_rows(ranks, transposed_.offsets, transposed_.columns, columns, own);
  part.transposed_ = part_of(transposed_, columns, [&](int32_t i) { return back.place(i); });
  share->from_rows = std::move(back.pattern);
  share->entries.offsets.clear();
  for (const int64_t row : own.offsets) {
    share->entries.offsets.push_back(forward_.offsets[static_cast<size_t>(row)]);
  }
  if (!split_columns) {
    const std::span<const int64_t> positions = transposed_positions();
    const auto first = transposed_.offsets[static_cast<size_t>(columns.begin(ranks.rank()))];
    part.positions_->values.assign(
        positions.begin() + first,
        positions.begin() + first + std::ssize(part.transposed_.columns));
    std::call_once(part.positions_->made, [] {});
  }
  part.share_ = std::move(share);
  return part;
}

template <class T>
std::span<const int64_t> SparseMatrix<T>::transposed_positions() const {
  std::call_once(positions_->made, [this] {
    std::vector<int64_t> next(transposed_.offsets.begin(), transposed_.offsets.end() - 1);
    positions_->values.resize(forward_.columns.size());
    for (size_t e = 0; e < forward_.columns.size(); ++e) {
      const auto column = static_cast<size_t>(forward_.columns[e]);
      positions_->values[static_cast<size_t>(next[column]++)] = static_cast<int64_t>(e);
    }
  });
  return positions_->values;
}

template <class T>
Var<T> spmm(Tape<T>& tape, const SparseMatrix<T>& matrix, const Var<T>& x) {
  expects(matrix.cols() == x.rows(), "spmm: shapes fit");
  const auto& share = matrix.share();
  expects(!share || share->split_columns, "spmm: a matrix between split rows");
  Matrix<T> out = share ? product(matrix.csr(), matrix.csr().values.data(),
                                  exchanged(*share->rows.ranks, share->from_columns, x.value()))
                        : product(matrix.csr(), matrix.csr().values.data(), x.value());
  return tape.record(tape.constant(std::move(out), share ? share->rows : dist::RowShare{}), {x},
                     [&matrix, slot = x.slot()](Tape<T>& t, const Matrix<T>& g) {
                       accumulate_transposed_product(t, slot, matrix, {}, g);
                     });
}

template <class T>
Var<T> sparse_linear(Tape<T>& tape, const SparseMatrix<T>& features, const Var<T>& weight,
                     const Var<T>& bias, const EntryDropout& dropout) {
  expects(features.cols() == weight.rows(), "sparse_linear: shapes fit");
  const auto& share = features.share();
  expects(!share || !share->split_columns, "sparse_linear: split features have whole columns");
  const dist::RowShare rows = share ? share->rows : dist::RowShare{};
  Matrix<T> dropped;  // the values that are left, for both passes; empty without dropout
  if (dropout.p > 0) {
    dropped =
        dropped_values(features, dropout_mask(tape.options().seed, dropout.stream, dropout.p));
  }
  const T* values = dropped.empty() ? features.csr().values.data() : dropped.data();
  Matrix<T> out = product(features.csr(), values, weight.value());
  if (bias) add_to_rows(bias.value(), out);
  return tape.record(
      tape.constant(std::move(out), rows), {weight, bias},
      [&features, rows, drops = dropout.p > 0, dropped = std::move(dropped),
       weight_slot = weight.slot(), bias_slot = bias.slot()](Tape<T>& t, const Matrix<T>& g) {
        if (bias_slot >= 0) {
          const auto into = t.target(bias_slot, 1, g.cols());
          column_sums_into(g, into.gradient, !into.fresh, rows);
        }
        accumulate_transposed_product(t, weight_slot, features,
                                      drops ? transposed_order(features, dropped) : Matrix<T>(), g);
      });
}

#define DGAT_INSTANTIATE(T)                                                                     \
  template class SparseMatrix<T>;                                                               \
  template Var<T> spmm(Tape<T>&, const SparseMatrix<T>&, const Var<T>&);                        \
  template Var<T> sparse_linear(Tape<T>&, const SparseMatrix<T>&, const Var<T>&, const Var<T>&, \
                                const EntryDropout&)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
