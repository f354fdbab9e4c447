#pragma once

#include "dgat/tensor/message_graph.h"
#include "dgat/tensor/tape.h"

/// Attention over the arcs of a graph as single tape nodes. For every head h with the contiguous
/// column slice h of the values,
///
///   out_i = sum_j alpha_ij v_j,     alpha_i. = softmax over the arcs (i, j) of score_ij
///
/// Rows without arcs give 0. The graph must outlive the backward pass. An edge term b_h + sum_c
/// coef(h, c) f(arc, c) joins every score.
///
/// Cost:   O(arcs * width) time, O(arcs * heads + nodes * width) memory; no arcs x width tensor.
/// Hubs:   rows longer than a fixed number of arcs are cut into pieces whose streaming-softmax
///         partial results are merged in order, so they do not serialise the loop.
/// Bits:   equal at every thread count (not between instruction sets: AVX uses fused multiply-add).
namespace dgat::tensor {

/// The directional edge term: constant features per arc and learned coefficients per head.
template <class T>
struct EdgeTerm {
  const Matrix<T>* features = nullptr;  ///< [arcs, k], null for no edge term; must outlive backward
  Var<T> coefficients;                  ///< [heads, k]
  Var<T> bias;                          ///< [1, heads] or empty
};

struct AttentionOptions {
  int64_t heads = 1;
  double slope = 0.2;  ///< negative slope of the LeakyReLU
  double dropout = 0;  ///< on alpha, in training only
};

/// Optional copy of alpha, [arcs, heads], for inspection ("predict --attention").
template <class T>
using AlphaOut = Matrix<T>*;

/// score_ij = LeakyReLU(dst_i + src_j + edge_ij): values [senders, heads * d], dst [receivers,
/// heads], src [senders, heads].
template <class T>
Var<T> additive_attention(Tape<T>& tape, const MessageGraph& graph, const Var<T>& values,
                          const Var<T>& dst, const Var<T>& src, const EdgeTerm<T>& edge,
                          const AttentionOptions& options, AlphaOut<T> alpha = nullptr);

/// GATv2 (Brody et al. 2022): score_ij = a_h . LeakyReLU(dst_i + src_j)_h + edge_ij; src is also
/// the value. dst [receivers, heads * d], src [senders, heads * d], a [heads, d].
template <class T>
Var<T> gatv2_attention(Tape<T>& tape, const MessageGraph& graph, const Var<T>& dst,
                       const Var<T>& src, const Var<T>& a, const EdgeTerm<T>& edge,
                       const AttentionOptions& options, AlphaOut<T> alpha = nullptr);

/// Scaled dot product: score_ij = q_i . k_j / sqrt(d) + edge_ij; q [receivers, heads * d], k and
/// values [senders, heads * d].
template <class T>
Var<T> dot_attention(Tape<T>& tape, const MessageGraph& graph, const Var<T>& q, const Var<T>& k,
                     const Var<T>& values, const EdgeTerm<T>& edge, const AttentionOptions& options,
                     AlphaOut<T> alpha = nullptr);

}  // namespace dgat::tensor
