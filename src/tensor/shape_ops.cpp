#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/ops.h"
#include "row_grain.h"

namespace dgat::tensor {
namespace {

/// Copies columns [from_begin, from_begin + count) of every row to columns [to_begin, ...).
template <class T>
void copy_columns(const Matrix<T>& from, int64_t from_begin, Matrix<T>& to, int64_t to_begin,
                  int64_t count) {
  parallel_for(from.rows(), row_grain(from.rows(), count), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* row = from.row(i) + from_begin;
      std::copy(row, row + count, to.row(i) + to_begin);
    }
  });
}

/// Positions of every value of `index`, as CSR: the transpose of a gather.
struct Occurrences {
  std::vector<int64_t> offsets;
  std::vector<int32_t> positions;
};
Occurrences occurrences(const std::vector<int32_t>& index, int64_t values) {
  Occurrences result;
  result.offsets.assign(static_cast<size_t>(values) + 1, 0);
  for (const int32_t i : index) ++result.offsets[static_cast<size_t>(i) + 1];
  for (size_t i = 1; i < result.offsets.size(); ++i) result.offsets[i] += result.offsets[i - 1];
  std::vector<int64_t> next(result.offsets.begin(), result.offsets.end() - 1);
  result.positions.resize(index.size());
  for (size_t p = 0; p < index.size(); ++p) {
    result.positions[static_cast<size_t>(next[static_cast<size_t>(index[p])]++)] =
        static_cast<int32_t>(p);
  }
  return result;
}

}  // namespace

template <class T>
Var<T> concat_columns(Tape<T>& tape, const std::vector<Var<T>>& parts) {
  expects(!parts.empty(), "concat_columns: at least one part");
  int64_t cols = 0;
  for (const Var<T>& part : parts) {
    expects(part.rows() == parts[0].rows(), "concat_columns: equal row counts");
    cols += part.cols();
  }
  Matrix<T> out(parts[0].rows(), cols);
  struct Piece {
    int32_t slot;
    int64_t cols;
  };
  std::vector<Piece> pieces;
  Var<T> any = parts[0];  // one input that wants a gradient stands for all
  int64_t first = 0;
  for (const Var<T>& part : parts) {
    copy_columns(part.value(), 0, out, first, part.cols());
    first += part.cols();
    pieces.push_back({part.slot(), part.cols()});
    if (part.wants_gradient()) any = part;
  }
  return tape.record(std::move(out), {any},
                     [pieces = std::move(pieces)](Tape<T>& t, const Matrix<T>& g) {
                       int64_t begin = 0;
                       for (const Piece& piece : pieces) {
                         if (piece.slot >= 0) {
                           Matrix<T> d(g.rows(), piece.cols);
                           copy_columns(g, begin, d, 0, piece.cols);
                           t.accumulate(piece.slot, std::move(d));
                         }
                         begin += piece.cols;
                       }
                     });
}

template <class T>
Var<T> slice_columns(Tape<T>& tape, const Var<T>& x, int64_t begin, int64_t end) {
  expects(0 <= begin && begin <= end && end <= x.cols(), "slice_columns: inside the matrix");
  Matrix<T> out(x.rows(), end - begin);
  copy_columns(x.value(), begin, out, 0, end - begin);
  return tape.record(std::move(out), {x},
                     [slot = x.slot(), cols = x.cols(), begin](Tape<T>& t, const Matrix<T>& g) {
                       Matrix<T> d = Matrix<T>::zeros(g.rows(), cols);
                       copy_columns(g, 0, d, begin, g.cols());
                       t.accumulate(slot, std::move(d));
                     });
}

template <class T>
Var<T> gather_rows(Tape<T>& tape, const Var<T>& x, std::span<const int32_t> rows) {
  const int64_t cols = x.cols(), count = static_cast<int64_t>(rows.size());
  for (const int32_t i : rows) expects(i >= 0 && i < x.rows(), "gather_rows: rows of the matrix");
  Matrix<T> out(count, cols);
  parallel_for(count, row_grain(count, cols), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* from = x.value().row(rows[static_cast<size_t>(r)]);
      std::copy(from, from + cols, out.row(r));
    }
  });
  return tape.record(
      std::move(out), {x},
      [slot = x.slot(), n = x.rows(), cols, index = std::vector<int32_t>(rows.begin(), rows.end())](
          Tape<T>& t, const Matrix<T>& g) {
        const Occurrences where = occurrences(index, n);
        const auto into = t.target(slot, n, cols);
        parallel_for(n, row_grain(n, cols), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            T* sum = into.gradient.row(i);
            if (into.fresh) std::fill(sum, sum + cols, T{0});
            for (int64_t p = where.offsets[static_cast<size_t>(i)];
                 p < where.offsets[static_cast<size_t>(i) + 1]; ++p) {
              const T* from = g.row(where.positions[static_cast<size_t>(p)]);
              for (int64_t c = 0; c < cols; ++c) sum[c] += from[c];
            }
          }
        });
      });
}

template <class T>
Var<T> mean_column_groups(Tape<T>& tape, const Var<T>& x, int64_t groups) {
  expects(groups > 0 && x.cols() % groups == 0, "mean_column_groups: equal groups");
  const int64_t cols = x.cols() / groups;
  const T share = T{1} / static_cast<T>(groups);
  Matrix<T> out = Matrix<T>::zeros(x.rows(), cols);
  parallel_for(x.rows(), row_grain(x.rows(), x.cols()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* sum = out.row(i);
      for (int64_t k = 0; k < groups; ++k) {
        const T* from = x.value().row(i) + k * cols;
        for (int64_t c = 0; c < cols; ++c) sum[c] += from[c];
      }
      for (int64_t c = 0; c < cols; ++c) sum[c] *= share;
    }
  });
  return tape.record(
      std::move(out), {x}, [slot = x.slot(), groups, cols, share](Tape<T>& t, const Matrix<T>& g) {
        Matrix<T> d(g.rows(), groups * cols);
        parallel_for(g.rows(), row_grain(g.rows(), groups * cols), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            for (int64_t k = 0; k < groups; ++k) {
              for (int64_t c = 0; c < cols; ++c) d(i, k * cols + c) = g(i, c) * share;
            }
          }
        });
        t.accumulate(slot, std::move(d));
      });
}

template Var<float> concat_columns(Tape<float>&, const std::vector<Var<float>>&);
template Var<double> concat_columns(Tape<double>&, const std::vector<Var<double>>&);
#define DGAT_INSTANTIATE(T)                                                       \
  template Var<T> slice_columns(Tape<T>&, const Var<T>&, int64_t, int64_t);       \
  template Var<T> gather_rows(Tape<T>&, const Var<T>&, std::span<const int32_t>); \
  template Var<T> mean_column_groups(Tape<T>&, const Var<T>&, int64_t)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
