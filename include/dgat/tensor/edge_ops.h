#pragma once

#include "dgat/tensor/message_graph.h"
#include "dgat/tensor/tape.h"

/// Operations that make a value per arc, for models that the fused attention does not cover. They
/// hold arcs x heads matrices. Composed, they give attention.h, which is how it is tested. dst
/// and q have a row per receiver; src, k and values have one per sender.
namespace dgat::tensor {

/// dst(i, h) + src(j, h) for every arc (i, j): [nodes, heads] -> [arcs, heads].
template <class T>
Var<T> edge_additive_scores(Tape<T>& tape, const MessageGraph& graph, const Var<T>& dst,
                            const Var<T>& src);
/// a_h . LeakyReLU(dst_i + src_j)_h: dst, src [nodes, heads * d], a [heads, d] -> [arcs, heads].
template <class T>
Var<T> edge_gatv2_scores(Tape<T>& tape, const MessageGraph& graph, const Var<T>& dst,
                         const Var<T>& src, const Var<T>& a, double slope = 0.2);
/// factor * q_i . k_j per head: q, k [nodes, heads * d] -> [arcs, heads].
template <class T>
Var<T> edge_dot_scores(Tape<T>& tape, const MessageGraph& graph, const Var<T>& q, const Var<T>& k,
                       int64_t heads, double factor);
/// Softmax over the arcs of every receiver: [arcs, heads] -> [arcs, heads].
template <class T>
Var<T> edge_softmax(Tape<T>& tape, const MessageGraph& graph, const Var<T>& scores);
/// out_i = sum_j weights(arc, h) v_j per head slice: weights [arcs, heads], values [nodes, heads *
/// d].
template <class T>
Var<T> edge_aggregate(Tape<T>& tape, const MessageGraph& graph, const Var<T>& weights,
                      const Var<T>& values);
/// Row of the receiver (or sender) for every arc: [n, m] -> [arcs, m].
template <class T>
Var<T> gather_receivers(Tape<T>& tape, const MessageGraph& graph, const Var<T>& x);
template <class T>
Var<T> gather_senders(Tape<T>& tape, const MessageGraph& graph, const Var<T>& x);

}  // namespace dgat::tensor
