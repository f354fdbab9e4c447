#pragma once

#include <span>
#include <vector>

#include "dgat/tensor/activation.h"
#include "dgat/tensor/tape.h"

/// Differentiable operations on dense matrices. All are deterministic at every thread count.
/// Shapes are checked: a mismatch is a defect of the model and throws InternalError.
namespace dgat::tensor {

// Products
// -----------------------------------------------------------------------------------------

/// x W^T + b: x [n, in], weight [out, in], bias [1, out] or an empty Var.
template <class T>
Var<T> linear(Tape<T>& tape, const Var<T>& x, const Var<T>& weight, const Var<T>& bias = {});
/// a b: a [n, k], b [k, m].
template <class T>
Var<T> matmul(Tape<T>& tape, const Var<T>& a, const Var<T>& b);
/// a^T.
template <class T>
Var<T> transpose(Tape<T>& tape, const Var<T>& a);
/// x^T x [m, m] of x [n, m], summed in double. For few columns: cost n m^2.
template <class T>
Var<T> gram(Tape<T>& tape, const Var<T>& x);
/// Inverse of a small symmetric positive definite matrix [k, k], by a Cholesky factor in double.
/// Only the symmetric part of `a` counts. Throws: ComputeError when it is not positive definite.
template <class T>
Var<T> spd_inverse(Tape<T>& tape, const Var<T>& a);

// Element by element
// -------------------------------------------------------------------------------

/// `slope` is the negative slope of kLeakyRelu.
template <class T>
Var<T> activate(Tape<T>& tape, const Var<T>& x, Activation activation, double slope = 0.2);
template <class T>
Var<T> gelu(Tape<T>& tape, const Var<T>& x) {
  return activate(tape, x, Activation::kGelu);
}
/// In training: zero with probability p, else x / (1 - p). Otherwise x itself. p in [0, 1); the
/// probability used is p rounded to 1/65536, and the scale is that of the rounded one.
template <class T>
Var<T> dropout(Tape<T>& tape, const Var<T>& x, double p);
/// gelu(dropout(x, p)) in one pass; keeps its slope, not x.
template <class T>
Var<T> dropout_gelu(Tape<T>& tape, const Var<T>& x, double p);
/// dropout(ReLU(x), p) in one pass; keeps its result, not x.
template <class T>
Var<T> relu_dropout(Tape<T>& tape, const Var<T>& x, double p);
/// x + dropout(y, p) in one pass; keeps nothing.
template <class T>
Var<T> add_dropout(Tape<T>& tape, const Var<T>& x, const Var<T>& y, double p);
template <class T>
Var<T> add(Tape<T>& tape, const Var<T>& a, const Var<T>& b);
/// x [n, m] + bias [1, m] in every row.
template <class T>
Var<T> add_bias(Tape<T>& tape, const Var<T>& x, const Var<T>& bias);
template <class T>
Var<T> multiply(Tape<T>& tape, const Var<T>& a, const Var<T>& b);
/// |x|; the derivative at 0 is 0.
template <class T>
Var<T> abs(Tape<T>& tape, const Var<T>& x);
template <class T>
Var<T> scale(Tape<T>& tape, const Var<T>& x, double factor);
/// x * factor with a learned 1 x 1 factor.
template <class T>
Var<T> scale_by(Tape<T>& tape, const Var<T>& x, const Var<T>& factor);
/// Row i of x times factors(i, 0): x [n, m], factors [n, 1].
template <class T>
Var<T> scale_rows(Tape<T>& tape, const Var<T>& x, const Var<T>& factors);
/// Column j of x times factors(0, j): x [n, m], factors [1, m].
template <class T>
Var<T> scale_columns(Tape<T>& tape, const Var<T>& x, const Var<T>& factors);

// Rows
// ---------------------------------------------------------------------------------------------

template <class T>
Var<T> softmax(Tape<T>& tape, const Var<T>& x);
template <class T>
Var<T> log_softmax(Tape<T>& tape, const Var<T>& x);
/// (x - mean) / sqrt(variance + epsilon) * weight + bias over each row; weight, bias [1, m].
template <class T>
Var<T> layer_norm(Tape<T>& tape, const Var<T>& x, const Var<T>& weight, const Var<T>& bias,
                  double epsilon = 1e-5);
/// out(i, h) = sum over c of x(i, h*d + c) a(h, c): the dot product of every head's slice with its
/// own vector. x [n, heads * d], a [heads, d] -> [n, heads].
template <class T>
Var<T> head_dots(Tape<T>& tape, const Var<T>& x, const Var<T>& a);
/// x / max(|x|_2, epsilon), each row.
template <class T>
Var<T> row_l2_normalize(Tape<T>& tape, const Var<T>& x, double epsilon = 1e-12);

/// Running statistics of a BatchNorm: part of a model's state, not trained.
template <class T>
struct BatchNormState {
  Matrix<T> mean, variance;  ///< [1, m]; empty until the first training pass: then 0 and 1
  double momentum = 0.1;
};
/// Normalises columns: by the batch in training (and moves the running statistics, with the
/// unbiased variance), by the running statistics otherwise.
template <class T>
Var<T> batch_norm(Tape<T>& tape, const Var<T>& x, const Var<T>& weight, const Var<T>& bias,
                  BatchNormState<T>& state, double epsilon = 1e-5);
/// relu_dropout(batch_norm(a + b, ...), p) with the same bits, in fewer passes; b may be empty.
/// Keeps a + b and its result.
template <class T>
Var<T> batch_norm_relu_dropout(Tape<T>& tape, const Var<T>& a, const Var<T>& b,
                               const Var<T>& weight, const Var<T>& bias, BatchNormState<T>& state,
                               double p, double epsilon = 1e-5);

// Shape
// --------------------------------------------------------------------------------------------

/// [a || b || ...], equal row counts.
template <class T>
Var<T> concat_columns(Tape<T>& tape, const std::vector<Var<T>>& parts);
/// Columns [begin, end).
template <class T>
Var<T> slice_columns(Tape<T>& tape, const Var<T>& x, int64_t begin, int64_t end);
/// Rows of x in the order of `rows` (repeats allowed). The list is copied.
template <class T>
Var<T> gather_rows(Tape<T>& tape, const Var<T>& x, std::span<const int32_t> rows);
/// The rows of a whole matrix that this rank has of every split one; x itself without a share.
template <class T>
Var<T> rows_of_rank(Tape<T>& tape, const Var<T>& x, const dist::RowShare& share);
/// Mean over `groups` equal column groups: [n, groups * m] -> [n, m] (average of heads).
template <class T>
Var<T> mean_column_groups(Tape<T>& tape, const Var<T>& x, int64_t groups);

// Losses: 1 x 1
// ------------------------------------------------------------------------------------

/// Mean over `rows`, or over all, of -log softmax(logits)[label]. labels: one per row of logits.
template <class T>
Var<T> cross_entropy(Tape<T>& tape, const Var<T>& logits, std::span<const int32_t> labels);
template <class T>
Var<T> cross_entropy(Tape<T>& tape, const Var<T>& logits, std::span<const int32_t> labels,
                     std::span<const int32_t> rows);
/// Mean over `rows`, or over all, of the binary cross-entropy of one logit per row; labels 0 or 1.
template <class T>
Var<T> binary_cross_entropy(Tape<T>& tape, const Var<T>& logits, std::span<const int32_t> labels);
template <class T>
Var<T> binary_cross_entropy(Tape<T>& tape, const Var<T>& logits, std::span<const int32_t> labels,
                            std::span<const int32_t> rows);
/// Mean of all entries.
template <class T>
Var<T> mean(Tape<T>& tape, const Var<T>& x);

}  // namespace dgat::tensor
