#include "dgat/tensor/edge_ops.h"

#include <algorithm>

#include "attention_pass.h"
#include "dgat/core/error.h"
#include "dgat/tensor/gemm.h"
#include "dgat/tensor/ops.h"
#include "scale_in_place.h"

namespace dgat::tensor {
namespace {

/// body(piece) for every piece of the receivers' rows.
template <class Body>
void for_pieces(const RowPlan& plan, const Body& body) {
  parallel_for(plan.blocks(), 1, [&](int64_t block, int64_t) {
    for (int64_t p = plan.block_offsets[static_cast<size_t>(block)];
         p < plan.block_offsets[static_cast<size_t>(block) + 1]; ++p) {
      body(plan.pieces[static_cast<size_t>(p)]);
    }
  });
}

/// out_i = sum over arcs (i, j) of weights[arc, h] x_j.
template <class T>
Matrix<T> sum_from_senders(const MessageGraph& graph, const Matrix<T>& weights,
                           const Matrix<T>& x) {
  Matrix<T> out(graph.nodes(), x.cols());
  reduce_rows<T>(graph.by_receiver(), out, 0, [&](const PieceTask<T>& task) {
    kernels<T>().weighted_sum(senders_of(graph, x, task.piece), weights.row(task.piece.begin),
                              weights.cols(), task.count(), task.sum);
  });
  return out;
}

/// out_j = sum over arcs (i, j) of weights[arc, h] x_i.
template <class T>
Matrix<T> sum_from_receivers(const MessageGraph& graph, const Matrix<T>& weights,
                             const Matrix<T>& x) {
  const int64_t heads = weights.cols();
  const auto weights_back = Back<T>::arcs(graph, weights), x_back = Back<T>::receivers(graph, x);
  Matrix<T> out(graph.sender_nodes(), x.cols());
  reduce_rows<T>(graph.by_sender(), out, heads, [&](const PieceTask<T>& task) {
    gather_by_arc((*weights_back).data(), graph.arc_of().data() + task.piece.begin, heads,
                  task.count(), task.scratch);
    kernels<T>().weighted_sum(receivers_of(graph, *x_back, task.piece), task.scratch, heads,
                              task.count(), task.sum);
  });
  return out;
}

/// out[arc, h] = x_i,h . y_j,h.
template <class T>
Matrix<T> arc_dots(const MessageGraph& graph, const Matrix<T>& x, const Matrix<T>& y,
                   int64_t heads) {
  Matrix<T> out(graph.arcs(), heads);
  for_pieces(graph.by_receiver(), [&](const RowPiece& piece) {
    kernels<T>().dots(x.row(piece.row), senders_of(graph, y, piece), heads, piece.end - piece.begin,
                      out.row(piece.begin));
  });
  return out;
}

/// A value with a row per arc.
template <class T>
Var<T> of_arcs(Tape<T>& tape, const MessageGraph& graph, Matrix<T> value) {
  return tape.constant(std::move(value), graph.share() ? graph.share()->arcs : dist::RowShare{});
}

}  // namespace

template <class T>
Var<T> gather_receivers(Tape<T>& tape, const MessageGraph& graph, const Var<T>& x) {
  expects(x.rows() == graph.nodes(), "gather_receivers: one row per node");
  const int64_t cols = x.cols();
  Matrix<T> out(graph.arcs(), cols);
  for_pieces(graph.by_receiver(), [&](const RowPiece& piece) {
    const T* from = x.value().row(piece.row);
    for (int64_t e = piece.begin; e < piece.end; ++e) std::copy(from, from + cols, out.row(e));
  });
  return tape.record(of_arcs(tape, graph, std::move(out)), {x},
                     [&graph, slot = x.slot(), cols](Tape<T>& t, const Matrix<T>& g) {
                       Matrix<T> d(graph.nodes(), cols);
                       reduce_rows<T>(graph.by_receiver(), d, 0, [&](const PieceTask<T>& task) {
                         for (int64_t e = task.piece.begin; e < task.piece.end; ++e) {
                           for (int64_t c = 0; c < cols; ++c) task.sum[c] += g(e, c);
                         }
                       });
                       t.accumulate(slot, std::move(d));
                     });
}

template <class T>
Var<T> gather_senders(Tape<T>& tape, const MessageGraph& graph, const Var<T>& x) {
  expects(x.rows() == graph.sender_nodes(), "gather_senders: one row per sender");
  const int64_t cols = x.cols();
  const Var<T> sent = rows_of_senders(tape, graph, x);
  Matrix<T> out(graph.arcs(), cols);
  for_pieces(graph.by_receiver(), [&](const RowPiece& piece) {
    for (int64_t e = piece.begin; e < piece.end; ++e) {
      const T* from = sent.value().row(graph.senders()[static_cast<size_t>(e)]);
      std::copy(from, from + cols, out.row(e));
    }
  });
  return tape.record(of_arcs(tape, graph, std::move(out)), {x},
                     [&graph, slot = x.slot(), cols](Tape<T>& t, const Matrix<T>& g) {
                       const auto g_back = Back<T>::arcs(graph, g);
                       Matrix<T> d(graph.sender_nodes(), cols);
                       reduce_rows<T>(graph.by_sender(), d, 0, [&](const PieceTask<T>& task) {
                         for (int64_t p = task.piece.begin; p < task.piece.end; ++p) {
                           const T* row = (*g_back).row(graph.arc_of()[static_cast<size_t>(p)]);
                           for (int64_t c = 0; c < cols; ++c) task.sum[c] += row[c];
                         }
                       });
                       t.accumulate(slot, std::move(d));
                     });
}

template <class T>
Var<T> edge_additive_scores(Tape<T>& tape, const MessageGraph& graph, const Var<T>& dst,
                            const Var<T>& src) {
  return add(tape, gather_receivers(tape, graph, dst), gather_senders(tape, graph, src));
}

template <class T>
Var<T> edge_gatv2_scores(Tape<T>& tape, const MessageGraph& graph, const Var<T>& dst,
                         const Var<T>& src, const Var<T>& a, double slope) {
  const int64_t heads = a.rows();
  expects(!graph.share(), "edge_gatv2_scores: the graph is whole");
  expects(dst.cols() == a.value().size() && src.cols() == dst.cols(),
          "edge_gatv2_scores: shapes fit");
  const T negative = static_cast<T>(slope);
  Matrix<T> out(graph.arcs(), heads);
  for_pieces(graph.by_receiver(), [&](const RowPiece& piece) {
    kernels<T>().gatv2_scores(dst.value().row(piece.row), senders_of(graph, src.value(), piece),
                              a.value().data(), negative, heads, piece.end - piece.begin,
                              out.row(piece.begin));
  });
  return tape.record(
      std::move(out), {dst, src, a},
      [&graph, dst, src, a, negative, heads](Tape<T>& t, const Matrix<T>& g) {
        const int64_t width = dst.cols();
        Matrix<T> da = Matrix<T>::zeros(graph.by_receiver().blocks(), width);
        Matrix<T> ddst(graph.nodes(), width), dsrc(graph.sender_nodes(), width);
        reduce_rows<T>(graph.by_receiver(), ddst, 0, [&](const PieceTask<T>& task) {
          kernels<T>().gatv2_backward(dst.value().row(task.piece.row),
                                      senders_of(graph, src.value(), task.piece), a.value().data(),
                                      negative, g.row(task.piece.begin), heads, task.count(),
                                      task.sum, da.row(task.block));
        });
        reduce_rows<T>(graph.by_sender(), dsrc, heads, [&](const PieceTask<T>& task) {
          gather_by_arc(g.data(), graph.arc_of().data() + task.piece.begin, heads, task.count(),
                        task.scratch);
          kernels<T>().gatv2_backward(
              src.value().row(task.piece.row), receivers_of(graph, dst.value(), task.piece),
              a.value().data(), negative, task.scratch, heads, task.count(), task.sum, nullptr);
        });
        Matrix<T> sum(1, width), shaped(a.rows(), a.cols());
        column_sums_into(da, sum);
        std::copy(sum.data(), sum.data() + width, shaped.data());
        t.accumulate(a.slot(), std::move(shaped));
        t.accumulate(dst.slot(), std::move(ddst));
        t.accumulate(src.slot(), std::move(dsrc));
      });
}

template <class T>
Var<T> edge_dot_scores(Tape<T>& tape, const MessageGraph& graph, const Var<T>& q, const Var<T>& k,
                       int64_t heads, double factor) {
  expects(!graph.share(), "edge_dot_scores: the graph is whole");
  expects(q.rows() == graph.nodes() && k.rows() == graph.sender_nodes() && q.cols() == k.cols() &&
              q.cols() % heads == 0,
          "edge_dot_scores: shapes fit");
  Matrix<T> out = arc_dots(graph, q.value(), k.value(), heads);
  const T f = static_cast<T>(factor);
  scale_in_place(out, f);
  return tape.record(std::move(out), {q, k}, [&graph, q, k, f](Tape<T>& t, Matrix<T> g) {
    scale_in_place(g, f);
    if (q.wants_gradient()) t.accumulate(q.slot(), sum_from_senders(graph, g, k.value()));
    if (k.wants_gradient()) t.accumulate(k.slot(), sum_from_receivers(graph, g, q.value()));
  });
}

template <class T>
Var<T> edge_softmax(Tape<T>& tape, const MessageGraph& graph, const Var<T>& scores) {
  expects(!graph.share(), "edge_softmax: the graph is whole");
  expects(scores.rows() == graph.arcs(), "edge_softmax: one row per arc");
  constexpr int64_t kRows = 256;
  const int64_t heads = scores.cols();
  Matrix<T> out = scores.value().clone();
  parallel_for(graph.nodes(), kRows, [&](int64_t begin, int64_t end) {
    Matrix<T> max(1, heads), sum(1, heads);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = graph.offsets()[static_cast<size_t>(i)];
      const int64_t count = graph.offsets()[static_cast<size_t>(i) + 1] - first;
      if (count == 0) continue;
      kernels<T>().softmax_parts(out.row(first), heads, count, max.data(), sum.data());
      for (T& value : sum.values()) value = T{1} / value;
      kernels<T>().scale_heads(out.row(first), sum.data(), heads, count);
    }
  });
  const Var<T> result = tape.constant(std::move(out));
  return tape.record(result, {scores},
                     [&graph, result, slot = scores.slot(), heads](Tape<T>& t, Matrix<T> g) {
                       parallel_for(graph.nodes(), kRows, [&](int64_t begin, int64_t end) {
                         Matrix<T> mean(1, heads);
                         for (int64_t i = begin; i < end; ++i) {
                           const int64_t first = graph.offsets()[static_cast<size_t>(i)];
                           const int64_t last = graph.offsets()[static_cast<size_t>(i) + 1];
                           std::fill_n(mean.data(), heads, T{0});
                           for (int64_t e = first; e < last; ++e) {
                             for (int64_t h = 0; h < heads; ++h)
                               mean(0, h) += result.value()(e, h) * g(e, h);
                           }
                           kernels<T>().softmax_backward(result.value().row(first), mean.data(),
                                                         T{1}, heads, last - first, g.row(first));
                         }
                       });
                       t.accumulate(slot, std::move(g));
                     });
}

template <class T>
Var<T> edge_aggregate(Tape<T>& tape, const MessageGraph& graph, const Var<T>& weights,
                      const Var<T>& values) {
  expects(weights.rows() == graph.arcs() && values.rows() == graph.sender_nodes() &&
              values.cols() % weights.cols() == 0,
          "edge_aggregate: shapes fit");
  const Var<T> sent = rows_of_senders(tape, graph, values);
  const dist::RowShare rows = graph.share() ? graph.share()->receivers : dist::RowShare{};
  return tape.record(tape.constant(sum_from_senders(graph, weights.value(), sent.value()), rows),
                     {weights, values},
                     [&graph, weights, sent, slot = values.slot()](Tape<T>& t, const Matrix<T>& g) {
                       if (weights.wants_gradient()) {
                         t.accumulate(weights.slot(),
                                      arc_dots(graph, g, sent.value(), weights.cols()));
                       }
                       if (slot >= 0)
                         t.accumulate(slot, sum_from_receivers(graph, weights.value(), g));
                     });
}

#define DGAT_INSTANTIATE(T)                                                                      \
  template Var<T> gather_receivers(Tape<T>&, const MessageGraph&, const Var<T>&);                \
  template Var<T> gather_senders(Tape<T>&, const MessageGraph&, const Var<T>&);                  \
  template Var<T> edge_additive_scores(Tape<T>&, const MessageGraph&, const Var<T>&,             \
                                       const Var<T>&);                                           \
  template Var<T> edge_gatv2_scores(Tape<T>&, const MessageGraph&, const Var<T>&, const Var<T>&, \
                                    const Var<T>&, double);                                      \
  template Var<T> edge_dot_scores(Tape<T>&, const MessageGraph&, const Var<T>&, const Var<T>&,   \
                                  int64_t, double);                                              \
  template Var<T> edge_softmax(Tape<T>&, const MessageGraph&, const Var<T>&);                    \
  template Var<T> edge_aggregate(Tape<T>&, const MessageGraph&, const Var<T>&, const Var<T>&)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
