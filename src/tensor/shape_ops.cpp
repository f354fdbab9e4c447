#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/split.h"
#include "row_grain.h"

namespace dgat::tensor {

/// Positions of every value of `index`, as CSR: the transpose of a gather.
struct Occurrences {
  std::vector<int64_t> offsets;
  std::vector<int32_t> positions;
};

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

/// Adds the rows of g to the rows of `into` that they were picked from: row p to index[p].
template <class T>
void add_picked(const Matrix<T>& g, const std::vector<int32_t>& index,
                const typename Tape<T>::Target& into) {
  const int64_t n = into.gradient.rows(), cols = g.cols();
  const Occurrences where = occurrences(index, n);
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
}

/// gather_rows() of split rows: `rows` counts those of the whole matrix and is the same on every
/// rank; the result is split like every matrix of so many rows.
template <class T>
Var<T> gather_split_rows(Tape<T>& tape, const Var<T>& x, std::span<const int32_t> rows) {
  dist::Communicator& ranks = *x.share().ranks;
  const dist::RowShare result = dist::share_of(ranks, std::ssize(rows));
  const dist::RowSplit &to = *result.rows, &from = *x.share().rows;
  const int me = ranks.rank();
  const int64_t first = from.begin(me);
  // There: picked rows of mine, by who gets them. Back: what others picked of mine, in order.
  dist::Exchange there, back;
  std::vector<int32_t> mine;  // rows of this rank in the order in which they were picked
  there.receive.assign(static_cast<size_t>(ranks.size()), 0);
  std::vector<int32_t> arrives(static_cast<size_t>(to.count(me)));  // the sender of each row
  back.send.resize(static_cast<size_t>(ranks.size()));
  for (int r = 0; r < ranks.size(); ++r) {
    std::vector<int32_t>& sent = there.send.emplace_back();
    for (int64_t p = to.begin(r); p < to.end(r); ++p) {
      const int owner = from.owner(rows[static_cast<size_t>(p)]);
      if (owner == me) {
        sent.push_back(static_cast<int32_t>(rows[static_cast<size_t>(p)] - first));
        mine.push_back(sent.back());
      }
      if (r != me) continue;
      ++there.receive[static_cast<size_t>(owner)];
      arrives[static_cast<size_t>(p - to.begin(me))] = owner;
      back.send[static_cast<size_t>(owner)].push_back(static_cast<int32_t>(p - to.begin(me)));
    }
    back.receive.push_back(std::ssize(sent));
  }
  const Matrix<T> received = exchanged(ranks, there, x.value());
  Matrix<T> out(to.count(me), x.cols());
  std::vector<int64_t> next(static_cast<size_t>(ranks.size()));
  for (size_t r = 1; r < next.size(); ++r) next[r] = next[r - 1] + there.receive[r - 1];
  for (int64_t p = 0; p < out.rows(); ++p) {
    const T* row = received.row(next[static_cast<size_t>(arrives[static_cast<size_t>(p)])]++);
    std::copy(row, row + x.cols(), out.row(p));
  }
  return tape.record(
      tape.constant(std::move(out), result), {x},
      [slot = x.slot(), n = x.rows(), cols = x.cols(), &ranks, back = std::move(back),
       mine = std::move(mine)](Tape<T>& t, const Matrix<T>& g) {
        const Matrix<T> picked = exchanged(ranks, back, g);
        add_picked(picked, mine, t.target(slot, n, cols));
      });
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
  return tape.record(tape.constant(std::move(out), parts.front().share()), {any},
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
  const int64_t all = x.share() ? x.share().all() : x.rows();
  for (const int32_t i : rows) expects(i >= 0 && i < all, "gather_rows: rows of the matrix");
  if (x.share()) return gather_split_rows(tape, x, rows);
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
          Tape<T>& t, const Matrix<T>& g) { add_picked(g, index, t.target(slot, n, cols)); });
}

template <class T>
Var<T> rows_of_rank(Tape<T>& tape, const Var<T>& x, const dist::RowShare& share) {
  if (!share) return x;
  expects(!x.share(), "rows_of_rank: x is whole");
  return tape.record(tape.constant(own_rows(share, x.value()), share), {x},
                     [share, slot = x.slot()](Tape<T>& t, const Matrix<T>& g) {
                       t.accumulate(slot, all_rows(share, g));
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
  template Var<T> rows_of_rank(Tape<T>&, const Var<T>&, const dist::RowShare&);   \
  template Var<T> mean_column_groups(Tape<T>&, const Var<T>&, int64_t)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
