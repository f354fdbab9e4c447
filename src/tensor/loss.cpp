#include <algorithm>
#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/split.h"
#include "row_grain.h"

namespace dgat::tensor {
namespace {

constexpr int64_t kLossGrain = 1 << 14;

/// The rows that a loss reads: those of a list, or the first `count`, which are all.
struct Chosen {
  std::span<const int32_t> list;
  int64_t count;
  int64_t operator[](int64_t r) const { return list.empty() ? r : list[static_cast<size_t>(r)]; }
};

/// Mean over the chosen rows of term(row, row of the whole matrix, gradient row); the gradient is
/// kept, already divided by the number of rows, because it is no larger than the logits and costs
/// one pass either way.
template <class T, class Term>
Var<T> mean_over_rows(Tape<T>& tape, const Var<T>& logits, const Chosen& rows, const Term& term) {
  expects(rows.count > 0, "loss: at least one row");
  const int64_t count = rows.count, cols = logits.cols(), grain = row_grain(count, cols);
  const bool recording = tape.records({logits});
  Matrix<T> gradient;
  if (recording) gradient = Matrix<T>::zeros(logits.rows(), cols);
  Matrix<double> terms;  // of all rows, when they are split over ranks
  if (const dist::RowShare& share = logits.share()) {
    expects(rows.list.empty(), "loss: split logits have a row for every term");
    Matrix<double> own(logits.rows(), 1);
    parallel_for(own.rows(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        own(i, 0) = term(i, share.first() + i, recording ? gradient.row(i) : nullptr);
      }
    });
    terms = all_rows(share, own);
  }
  const double total = parallel_sum<double>(count, grain, [&](int64_t begin, int64_t end) {
    double sum = 0;
    for (int64_t r = begin; r < end; ++r) {
      const int64_t i = rows[r];
      sum += terms.empty() ? term(i, i, recording ? gradient.row(i) : nullptr) : terms(i, 0);
    }
    return sum;
  });
  Matrix<T> out = Matrix<T>::filled(1, 1, static_cast<T>(total / static_cast<double>(count)));
  return tape
      .record(std::move(out), {logits},
              [slot = logits.slot(), kept = std::move(gradient), count](
                  Tape<T>& t, const Matrix<T>& g) mutable {
                const T factor = g(0, 0) / static_cast<T>(count);
                parallel_for(kept.size(), kLossGrain, [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) kept.data()[i] *= factor;
                });
                t.accumulate(slot, std::move(kept));
              })
      .whole();
}

template <class T>
Var<T> cross_entropy_of(Tape<T>& tape, const Var<T>& logits, std::span<const int32_t> labels,
                        const Chosen& rows) {
  const Matrix<T>& x = logits.value();
  const int64_t classes = x.cols();
  return mean_over_rows(
      tape, logits, rows, [&x, labels, classes](int64_t i, int64_t all_i, T* gradient) {
        const int32_t label = labels[static_cast<size_t>(all_i)];
        expects(label >= 0 && label < classes, "cross_entropy: labels lie in [0, classes)");
        const T* row = x.row(i);
        const T largest = *std::max_element(row, row + classes);
        double sum = 0;
        for (int64_t c = 0; c < classes; ++c)
          sum += std::exp(static_cast<double>(row[c] - largest));
        if (gradient != nullptr) {
          for (int64_t c = 0; c < classes; ++c) {
            gradient[c] = static_cast<T>(std::exp(static_cast<double>(row[c] - largest)) / sum);
          }
          gradient[label] -= T{1};
        }
        return std::log(sum) - static_cast<double>(row[label] - largest);
      });
}

template <class T>
Var<T> binary_cross_entropy_of(Tape<T>& tape, const Var<T>& logits, std::span<const int32_t> labels,
                               const Chosen& rows) {
  expects(logits.cols() == 1, "binary_cross_entropy: one logit per row");
  const Matrix<T>& x = logits.value();
  return mean_over_rows(tape, logits, rows, [&x, labels](int64_t i, int64_t all_i, T* gradient) {
    const int32_t label = labels[static_cast<size_t>(all_i)];
    expects(label == 0 || label == 1, "binary_cross_entropy: labels are 0 or 1");
    const double z = static_cast<double>(x(i, 0));
    const double small = std::exp(-std::abs(z));
    if (gradient != nullptr) {
      const double probability = z >= 0 ? 1 / (1 + small) : small / (1 + small);
      gradient[0] = static_cast<T>(probability - label);
    }
    return std::max(z, 0.0) - z * label + std::log1p(small);
  });
}

/// loss(logits, labels, rows) of chosen rows. Those of split logits are gathered first, so that
/// they are split like every matrix of so many rows.
template <class T, class Loss>
Var<T> of_chosen_rows(Tape<T>& tape, const Var<T>& logits, std::span<const int32_t> labels,
                      std::span<const int32_t> rows, const Loss& loss) {
  if (!logits.share()) return loss(logits, labels, Chosen{rows, std::ssize(rows)});
  std::vector<int32_t> chosen;
  chosen.reserve(rows.size());
  for (const int32_t i : rows) chosen.push_back(labels[static_cast<size_t>(i)]);
  return loss(gather_rows(tape, logits, rows), chosen, Chosen{{}, std::ssize(rows)});
}

template <class T>
Chosen all_rows(const Var<T>& logits, std::span<const int32_t> labels) {
  const int64_t rows = logits.share() ? logits.share().all() : logits.rows();
  expects(std::ssize(labels) == rows, "loss: one label per row");
  return {{}, rows};
}

}  // namespace

template <class T>
Var<T> cross_entropy(Tape<T>& tape, const Var<T>& logits, std::span<const int32_t> labels) {
  return cross_entropy_of(tape, logits, labels, all_rows(logits, labels));
}
template <class T>
Var<T> cross_entropy(Tape<T>& tape, const Var<T>& logits, std::span<const int32_t> labels,
                     std::span<const int32_t> rows) {
  return of_chosen_rows(tape, logits, labels, rows,
                        [&tape](const Var<T>& x, std::span<const int32_t> y, const Chosen& of) {
                          return cross_entropy_of(tape, x, y, of);
                        });
}
template <class T>
Var<T> binary_cross_entropy(Tape<T>& tape, const Var<T>& logits, std::span<const int32_t> labels) {
  return binary_cross_entropy_of(tape, logits, labels, all_rows(logits, labels));
}
template <class T>
Var<T> binary_cross_entropy(Tape<T>& tape, const Var<T>& logits, std::span<const int32_t> labels,
                            std::span<const int32_t> rows) {
  return of_chosen_rows(tape, logits, labels, rows,
                        [&tape](const Var<T>& x, std::span<const int32_t> y, const Chosen& of) {
                          return binary_cross_entropy_of(tape, x, y, of);
                        });
}

template <class T>
Var<T> mean(Tape<T>& tape, const Var<T>& x) {
  const Matrix<T>& value = x.value();
  expects(!x.share(), "mean: x is whole");
  expects(!value.empty(), "mean: at least one entry");
  const double total =
      parallel_sum<double>(value.size(), kLossGrain, [&](int64_t begin, int64_t end) {
        double sum = 0;
        for (int64_t i = begin; i < end; ++i) sum += static_cast<double>(value.data()[i]);
        return sum;
      });
  const double count = static_cast<double>(value.size());
  return tape.record(
      Matrix<T>::filled(1, 1, static_cast<T>(total / count)), {x},
      [slot = x.slot(), rows = x.rows(), cols = x.cols(), count](Tape<T>& t, const Matrix<T>& g) {
        const T each = static_cast<T>(static_cast<double>(g(0, 0)) / count);
        t.accumulate(slot, Matrix<T>::filled(rows, cols, each));
      });
}

#define DGAT_INSTANTIATE(T)                                                                \
  template Var<T> cross_entropy(Tape<T>&, const Var<T>&, std::span<const int32_t>);        \
  template Var<T> binary_cross_entropy(Tape<T>&, const Var<T>&, std::span<const int32_t>); \
  template Var<T> cross_entropy(Tape<T>&, const Var<T>&, std::span<const int32_t>,         \
                                std::span<const int32_t>);                                 \
  template Var<T> binary_cross_entropy(Tape<T>&, const Var<T>&, std::span<const int32_t>,  \
                                       std::span<const int32_t>);                          \
  template Var<T> mean(Tape<T>&, const Var<T>&)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
