#pragma once

#include <cmath>
#include <optional>

#include "dgat/core/error.h"
#include "dgat/tensor/attention.h"
#include "dgat/tensor/gemm.h"
#include "dgat/tensor/split.h"
#include "dropout_mask.h"
#include "kernels/kernels.h"
#include "reduce_rows.h"
#include "row_grain.h"

/// What the three forms of attention share: softmax and weighted sum over the arcs of every
/// receiver, and their backward pass. A form brings its scores and the scores' gradient.
namespace dgat::tensor {

/// The rows of the senders as graph.senders() counts them: where the graph is split over ranks,
/// those that arcs of this rank read. Where memory is saved, ranks fetch them again for the
/// backward pass, all at the same place. Gradients go to x.
template <class T>
Var<T> rows_of_senders(Tape<T>& tape, const MessageGraph& graph, const Var<T>& x) {
  if (!graph.share()) return x;
  return tape.constant_made_again([share = graph.share(), x = x.for_backward()] {
    return exchanged(*share->senders.ranks, share->from_senders, x.value());
  });
}

/// For the way back: rows of the receivers and of the arcs as graph.receivers() and graph.arc_of()
/// count them.
template <class T>
class Back {
 public:
  static Back receivers(const MessageGraph& graph, const Matrix<T>& x) {
    return Back(graph, &GraphShare::from_receivers, x);
  }
  static Back arcs(const MessageGraph& graph, const Matrix<T>& x) {
    return Back(graph, &GraphShare::from_arcs, x);
  }
  const Matrix<T>& operator*() const { return moved_ ? *moved_ : x_; }

 private:
  Back(const MessageGraph& graph, const dist::Exchange GraphShare::*pattern, const Matrix<T>& x)
      : x_(x) {
    if (!graph.share()) return;
    moved_ = exchanged(*graph.share()->arcs.ranks, *graph.share().*pattern, x);
  }
  const Matrix<T>& x_;
  std::optional<Matrix<T>> moved_;
};

/// The edge term of one pass: coefficients transposed to [k, heads], so that heads are contiguous.
template <class T>
class EdgeScores {
 public:
  EdgeScores(const MessageGraph& graph, const EdgeTerm<T>& edge, int64_t heads) : edge_(edge) {
    if (graph.share()) arcs_ = graph.share()->arcs;
    if (edge.features == nullptr) return;
    const int64_t k = edge.features->cols();
    expects(edge.features->rows() == graph.arcs() && edge.coefficients.rows() == heads &&
                edge.coefficients.cols() == k,
            "attention: edge features are arcs x k, coefficients heads x k");
    expects(!edge.bias || edge.bias.value().size() == heads, "attention: one edge bias per head");
    transposed_ = Matrix<T>(k, heads);
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t c = 0; c < k; ++c) transposed_(c, h) = edge.coefficients.value()(h, c);
    }
  }

  void add_to(const RowPiece& piece, int64_t heads, T* scores) const {
    if (edge_.features == nullptr) return;
    kernels<T>().add_edge_terms(
        edge_.features->row(piece.begin), edge_.features->cols(), transposed_.data(),
        edge_.bias ? edge_.bias.value().data() : nullptr, heads, piece.end - piece.begin, scores);
  }

  /// The numbers of a piece for the additive kernels.
  AdditiveScores<T> additive(const T* receiver, const IndexedRows<T>& senders,
                             const RowPiece& piece, T slope) const {
    AdditiveScores<T> scores{receiver, senders, 0, nullptr, nullptr, nullptr, slope};
    if (edge_.features == nullptr) return scores;
    scores.k = edge_.features->cols();
    scores.features = edge_.features->row(piece.begin);
    scores.coefficients = transposed_.data();
    if (edge_.bias) scores.bias = edge_.bias.value().data();
    return scores;
  }

  /// Gradients of coefficients and bias from those of the scores, [arcs, heads].
  void backward(Tape<T>& tape, const Matrix<T>& dscores) const {
    if (edge_.features == nullptr) return;
    if (edge_.coefficients.wants_gradient()) {
      const auto into =
          tape.target(edge_.coefficients.slot(), dscores.cols(), edge_.features->cols());
      transposed_multiply_into(dscores, *edge_.features, into.gradient,
                               {.accumulate = !into.fresh, .share = arcs_});
    }
    if (edge_.bias.wants_gradient()) {
      const auto into = tape.target(edge_.bias.slot(), 1, dscores.cols());
      column_sums_into(dscores, into.gradient, !into.fresh, arcs_);
    }
  }

 private:
  EdgeTerm<T> edge_;
  Matrix<T> transposed_;
  dist::RowShare arcs_;
};

/// Random bits for dropping alphas; off outside training.
struct AlphaDropout {
  DropoutMask mask;
  bool on = false;
};
template <class T>
AlphaDropout alpha_dropout(Tape<T>& tape, double p) {
  if (!tape.training() || p == 0) return {};
  return {next_dropout_mask(tape, p), true};
}

/// What the backward pass needs of the forward one.
template <class T>
struct Attended {
  Matrix<T> out;    ///< [nodes, width]
  Matrix<T> alpha;  ///< [arcs, heads], negative where dropped; empty when not kept
};

/// Softmax and weighted sum of `values` over every receiver's arcs. score(piece, s) writes the
/// scores [count, heads] of a piece.
///
/// A piece of a long row leaves its own maximum, sum and unscaled weighted sum; they are merged in
/// order afterwards, and its alphas corrected.
template <class T, class Score>
Attended<T> attend(const MessageGraph& graph, const Matrix<T>& values, int64_t heads,
                   const AlphaDropout& dropout, bool keep_alpha, const Score& score) {
  const RowPlan& plan = graph.by_receiver();
  const Kernels<T>& kernel = kernels<T>();
  const int64_t width = values.cols(), d = width / heads;
  Attended<T> result{Matrix<T>(graph.nodes(), width), Matrix<T>()};
  if (keep_alpha) result.alpha = Matrix<T>(graph.arcs(), heads);
  Matrix<T> maxima(plan.parts, heads), sums(plan.parts, heads), partial(plan.parts, width);
  // Positions count the arcs of the whole graph.
  const int64_t first_arc = graph.share() ? graph.share()->arcs.first() : 0;
  const T kept_scale = static_cast<T>(dropout.on ? dropout.mask.scale : 1);

  parallel_for(plan.blocks(), 1, [&](int64_t block, int64_t) {
    Matrix<T> scratch(2, heads * kPieceEntries), head_numbers(2, heads);
    for (int64_t p = plan.block_offsets[static_cast<size_t>(block)];
         p < plan.block_offsets[static_cast<size_t>(block) + 1]; ++p) {
      const RowPiece& piece = plan.pieces[static_cast<size_t>(p)];
      const int64_t count = piece.end - piece.begin;
      const bool whole = piece.part < 0;
      T* sum_row = whole ? result.out.row(piece.row) : partial.row(piece.part);
      std::fill(sum_row, sum_row + width, T{0});
      if (count == 0) continue;
      T* s = keep_alpha ? result.alpha.row(piece.begin) : scratch.row(0);
      T* max = whole ? head_numbers.row(0) : maxima.row(piece.part);
      T* sum = whole ? head_numbers.row(1) : sums.row(piece.part);
      score(piece, s);
      kernel.softmax_parts(s, heads, count, max, sum);
      if (whole) {
        for (int64_t h = 0; h < heads; ++h) sum[h] = T{1} / sum[h];
        kernel.scale_heads(s, sum, heads, count);
      }
      const T* weights = s;
      if (dropout.on) {
        kernel.negate_dropped(dropout.mask, (first_arc + piece.begin) * heads, s, count * heads);
        T* kept = scratch.row(1);
        for (int64_t i = 0; i < count * heads; ++i) kept[i] = std::max(s[i], T{0}) * kept_scale;
        weights = kept;
      }
      kernel.weighted_sum(senders_of(graph, values, piece), weights, heads, count, sum_row);
    }
  });

  // Long rows: factors[part, h] turns a piece's own normalisation into that of its row.
  Matrix<T> factors(plan.parts, heads);
  parallel_for(static_cast<int64_t>(plan.long_rows.size()), 1, [&](int64_t at, int64_t) {
    const RowPlan::LongRow& merged = plan.long_rows[static_cast<size_t>(at)];
    const int64_t first = merged.first_part, last = first + merged.parts;
    T* out = result.out.row(merged.row);
    std::fill(out, out + width, T{0});
    for (int64_t h = 0; h < heads; ++h) {
      T max = maxima(first, h), sum = 0;
      for (int64_t p = first; p < last; ++p) max = std::max(max, maxima(p, h));
      for (int64_t p = first; p < last; ++p) {
        factors(p, h) = std::exp(maxima(p, h) - max);
        sum += factors(p, h) * sums(p, h);
      }
      for (int64_t p = first; p < last; ++p) {
        factors(p, h) /= sum;
        for (int64_t c = h * d; c < (h + 1) * d; ++c) out[c] += factors(p, h) * partial(p, c);
      }
    }
  });
  if (keep_alpha && plan.parts > 0) {
    parallel_for(plan.blocks(), 1, [&](int64_t block, int64_t) {
      for (int64_t p = plan.block_offsets[static_cast<size_t>(block)];
           p < plan.block_offsets[static_cast<size_t>(block) + 1]; ++p) {
        const RowPiece& piece = plan.pieces[static_cast<size_t>(p)];
        if (piece.part < 0) continue;
        kernel.scale_heads(result.alpha.row(piece.begin), factors.row(piece.part), heads,
                           piece.end - piece.begin);
      }
    });
  }
  return result;
}

/// g_i . out_i, [receivers, heads]: all that the backward pass reads of the result. Frees the
/// result unless somebody else holds it.
template <class T>
Matrix<T> take_result_dots(const Matrix<T>& g, Var<T>& result, int64_t heads) {
  const Matrix<T>& out = result.value();
  Matrix<T> dots(g.rows(), heads);
  const int32_t self = 0;
  parallel_for(g.rows(), row_grain(g.rows(), g.cols()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      kernels<T>().dots(g.row(i), {out.row(i), &self, out.cols()}, heads, 1, dots.row(i));
    }
  });
  result = {};
  return dots;
}

/// Gradient of a piece's scores, [count, heads], from g = d(loss)/d(out):
/// alpha (keep g_i . v_j - g_i . out_i).
template <class T>
void score_gradient(const MessageGraph& graph, const Matrix<T>& g, const Matrix<T>& result_dots,
                    const Matrix<T>& values, const Matrix<T>& alpha, const AlphaDropout& dropout,
                    const RowPiece& piece, T* ds) {
  const Kernels<T>& kernel = kernels<T>();
  const int64_t heads = alpha.cols(), count = piece.end - piece.begin;
  kernel.dots(g.row(piece.row), senders_of(graph, values, piece), heads, count, ds);
  kernel.softmax_backward(alpha.row(piece.begin), result_dots.row(piece.row),
                          static_cast<T>(dropout.on ? dropout.mask.scale : 1), heads, count, ds);
}

/// Adds sum over the arcs that leave j of alpha_ij g_i to sum (one row of the values' gradient).
template <class T>
void add_value_gradient(const MessageGraph& graph, const Matrix<T>& g, const Matrix<T>& alpha,
                        const AlphaDropout& dropout, const PieceTask<T>& task) {
  const int64_t heads = alpha.cols(), numbers = task.count() * heads;
  gather_by_arc(alpha.data(), graph.arc_of().data() + task.piece.begin, heads, task.count(),
                task.scratch);
  if (dropout.on) {
    const T scale = static_cast<T>(dropout.mask.scale);
    for (int64_t i = 0; i < numbers; ++i) {
      task.scratch[i] = std::max(task.scratch[i], T{0}) * scale;
    }
  }
  kernels<T>().weighted_sum(receivers_of(graph, g, task.piece), task.scratch, heads, task.count(),
                            task.sum);
}

/// |alpha| for the caller who asked: a copy where a backward pass will read alpha, too.
template <class T>
void give_alpha(Matrix<T>& alpha, bool recording, AlphaOut<T> out) {
  if (out == nullptr) return;
  *out = recording ? alpha.clone() : std::move(alpha);
  for (T& value : out->values()) value = std::abs(value);
}

}  // namespace dgat::tensor
