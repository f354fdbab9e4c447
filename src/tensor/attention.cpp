#include "dgat/tensor/attention.h"

#include "attention_pass.h"

namespace dgat::tensor {
namespace {

template <class T>
void check_shapes(const MessageGraph& graph, const Matrix<T>& values,
                  const AttentionOptions& options) {
  expects(options.heads > 0 && values.rows() == graph.sender_nodes() &&
              values.cols() % options.heads == 0,
          "attention: values are senders x (heads * d)");
}

/// Adds rows of an [arcs, heads] array, taken in the order of `arcs`, to sum.
template <class T>
void add_rows_by_arc(const Matrix<T>& from, const int32_t* arcs, int64_t count, T* sum) {
  const int64_t heads = from.cols();
  for (int64_t e = 0; e < count; ++e) {
    const T* row = from.row(arcs[e]);
    for (int64_t h = 0; h < heads; ++h) sum[h] += row[h];
  }
}

}  // namespace

template <class T>
Var<T> additive_attention(Tape<T>& tape, const MessageGraph& graph, const Var<T>& values,
                          const Var<T>& dst, const Var<T>& src, const EdgeTerm<T>& edge,
                          const AttentionOptions& options, AlphaOut<T> alpha_out) {
  check_shapes(graph, values.value(), options);
  const int64_t heads = options.heads;
  expects(dst.rows() == graph.nodes() && dst.cols() == heads &&
              src.rows() == graph.sender_nodes() && src.cols() == heads,
          "additive_attention: dst is receivers x heads, src senders x heads");
  const T slope = static_cast<T>(options.slope);
  const AlphaDropout dropout = alpha_dropout(tape, options.dropout);
  EdgeScores<T> edges(graph, edge, heads);

  // What the scores of a piece are made of; the backward pass makes them again.
  const auto parts = [&graph, dst, src, slope](const EdgeScores<T>& terms, const RowPiece& piece) {
    return terms.additive(dst.value().row(piece.row), senders_of(graph, src.value(), piece), piece,
                          slope);
  };
  const bool recording = tape.records({values, dst, src, edge.coefficients, edge.bias});
  Attended<T> attended =
      attend(graph, values.value(), heads, dropout, recording || alpha_out != nullptr,
             [&](const RowPiece& piece, T* s) {
               kernels<T>().additive_scores(parts(edges, piece), piece.end - piece.begin, s);
             });
  copy_alpha(attended.alpha, alpha_out);
  const Var<T> out = tape.constant(std::move(attended.out));
  return tape.record(
      out, {values, dst, src, edge.coefficients, edge.bias},
      [&graph, values, dst_slot = dst.slot(), src_slot = src.slot(), out, parts, dropout, heads,
       edges = std::move(edges),
       alpha = std::move(attended.alpha)](Tape<T>& t, const Matrix<T>& g) {
        Matrix<T> ds(graph.arcs(), heads), ddst(graph.nodes(), heads);
        reduce_rows<T>(graph.by_receiver(), ddst, heads, [&](const PieceTask<T>& task) {
          T* piece_ds = ds.row(task.piece.begin);
          score_gradient(graph, g, out.value(), values.value(), alpha, dropout, task.piece,
                         task.scratch, piece_ds);
          kernels<T>().additive_scores_backward(parts(edges, task.piece), task.count(), piece_ds,
                                                task.sum);
        });
        t.accumulate(dst_slot, std::move(ddst));
        edges.backward(t, ds);
        if (src_slot >= 0) {
          Matrix<T> dsrc(graph.sender_nodes(), heads);
          reduce_rows<T>(graph.by_sender(), dsrc, 0, [&](const PieceTask<T>& task) {
            add_rows_by_arc(ds, graph.arc_of().data() + task.piece.begin, task.count(), task.sum);
          });
          t.accumulate(src_slot, std::move(dsrc));
        }
        if (values.wants_gradient()) {
          Matrix<T> dvalues(graph.sender_nodes(), values.cols());
          reduce_rows<T>(graph.by_sender(), dvalues, heads, [&](const PieceTask<T>& task) {
            add_value_gradient(graph, g, alpha, dropout, task);
          });
          t.accumulate(values.slot(), std::move(dvalues));
        }
      });
}

template <class T>
Var<T> gatv2_attention(Tape<T>& tape, const MessageGraph& graph, const Var<T>& dst,
                       const Var<T>& src, const Var<T>& a, const EdgeTerm<T>& edge,
                       const AttentionOptions& options, AlphaOut<T> alpha_out) {
  check_shapes(graph, src.value(), options);
  const int64_t heads = options.heads;
  expects(dst.rows() == graph.nodes() && dst.cols() == src.cols() && a.rows() == heads &&
              a.value().size() == src.cols(),
          "gatv2_attention: dst is receivers x (heads * d), a is heads x d");
  const T slope = static_cast<T>(options.slope);
  const AlphaDropout dropout = alpha_dropout(tape, options.dropout);
  EdgeScores<T> edges(graph, edge, heads);
  const bool recording = tape.records({dst, src, a, edge.coefficients, edge.bias});
  Attended<T> attended = attend(
      graph, src.value(), heads, dropout, recording || alpha_out != nullptr,
      [&](const RowPiece& piece, T* s) {
        kernels<T>().gatv2_scores(dst.value().row(piece.row), senders_of(graph, src.value(), piece),
                                  a.value().data(), slope, heads, piece.end - piece.begin, s);
        edges.add_to(piece, heads, s);
      });
  copy_alpha(attended.alpha, alpha_out);
  const Var<T> out = tape.constant(std::move(attended.out));
  return tape.record(
      out, {dst, src, a, edge.coefficients, edge.bias},
      [&graph, dst, src, a, out, dropout, slope, heads, edges = std::move(edges),
       alpha = std::move(attended.alpha)](Tape<T>& t, const Matrix<T>& g) {
        const int64_t width = src.cols();
        Matrix<T> ds(graph.arcs(), heads), ddst(graph.nodes(), width);
        Matrix<T> da = Matrix<T>::zeros(graph.by_receiver().blocks(), width);
        reduce_rows<T>(graph.by_receiver(), ddst, heads, [&](const PieceTask<T>& task) {
          T* piece_ds = ds.row(task.piece.begin);
          score_gradient(graph, g, out.value(), src.value(), alpha, dropout, task.piece,
                         task.scratch, piece_ds);
          kernels<T>().gatv2_backward(
              dst.value().row(task.piece.row), senders_of(graph, src.value(), task.piece),
              a.value().data(), slope, piece_ds, heads, task.count(), task.sum, da.row(task.block));
        });
        t.accumulate(dst.slot(), std::move(ddst));
        edges.backward(t, ds);
        if (a.wants_gradient()) {
          const auto into = t.target(a.slot(), a.rows(), a.cols());
          Matrix<T> sum(1, width);
          column_sums_into(da, sum);
          for (int64_t i = 0; i < width; ++i) {
            T& entry = into.gradient.data()[i];
            entry = into.fresh ? sum.data()[i] : entry + sum.data()[i];
          }
        }
        if (!src.wants_gradient()) return;
        Matrix<T> dsrc(graph.sender_nodes(), width);
        reduce_rows<T>(graph.by_sender(), dsrc, heads, [&](const PieceTask<T>& task) {
          add_value_gradient(graph, g, alpha, dropout, task);
          gather_by_arc(ds.data(), graph.arc_of().data() + task.piece.begin, heads, task.count(),
                        task.scratch);
          kernels<T>().gatv2_backward(
              src.value().row(task.piece.row), receivers_of(graph, dst.value(), task.piece),
              a.value().data(), slope, task.scratch, heads, task.count(), task.sum, nullptr);
        });
        t.accumulate(src.slot(), std::move(dsrc));
      });
}

template <class T>
Var<T> dot_attention(Tape<T>& tape, const MessageGraph& graph, const Var<T>& q, const Var<T>& k,
                     const Var<T>& values, const EdgeTerm<T>& edge, const AttentionOptions& options,
                     AlphaOut<T> alpha_out) {
  check_shapes(graph, values.value(), options);
  const int64_t heads = options.heads, width = values.cols(), d = width / heads;
  expects(q.rows() == graph.nodes() && q.cols() == width && k.value().same_shape(values.value()),
          "dot_attention: q is receivers x (heads * d), k is shaped like the values");
  const AlphaDropout dropout = alpha_dropout(tape, options.dropout);
  const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(d)));
  EdgeScores<T> edges(graph, edge, heads);
  const bool recording = tape.records({q, k, values, edge.coefficients, edge.bias});
  Attended<T> attended =
      attend(graph, values.value(), heads, dropout, recording || alpha_out != nullptr,
             [&](const RowPiece& piece, T* s) {
               const int64_t count = piece.end - piece.begin;
               kernels<T>().dots(q.value().row(piece.row), senders_of(graph, k.value(), piece),
                                 heads, count, s);
               for (int64_t i = 0; i < count * heads; ++i) s[i] *= scale;
               edges.add_to(piece, heads, s);
             });
  copy_alpha(attended.alpha, alpha_out);
  const Var<T> out = tape.constant(std::move(attended.out));
  return tape.record(
      out, {q, k, values, edge.coefficients, edge.bias},
      [&graph, q, k, values, out, dropout, scale, heads, width, edges = std::move(edges),
       alpha = std::move(attended.alpha)](Tape<T>& t, const Matrix<T>& g) {
        Matrix<T> ds(graph.arcs(), heads), dq(graph.nodes(), width);
        reduce_rows<T>(graph.by_receiver(), dq, heads, [&](const PieceTask<T>& task) {
          T* piece_ds = ds.row(task.piece.begin);
          score_gradient(graph, g, out.value(), values.value(), alpha, dropout, task.piece,
                         task.scratch, piece_ds);
          for (int64_t i = 0; i < task.count() * heads; ++i) task.scratch[i] = piece_ds[i] * scale;
          kernels<T>().weighted_sum(senders_of(graph, k.value(), task.piece), task.scratch, heads,
                                    task.count(), task.sum);
        });
        t.accumulate(q.slot(), std::move(dq));
        edges.backward(t, ds);
        if (k.wants_gradient()) {
          Matrix<T> dk(graph.sender_nodes(), width);
          reduce_rows<T>(graph.by_sender(), dk, heads, [&](const PieceTask<T>& task) {
            gather_by_arc(ds.data(), graph.arc_of().data() + task.piece.begin, heads, task.count(),
                          task.scratch);
            for (int64_t i = 0; i < task.count() * heads; ++i) task.scratch[i] *= scale;
            kernels<T>().weighted_sum(receivers_of(graph, q.value(), task.piece), task.scratch,
                                      heads, task.count(), task.sum);
          });
          t.accumulate(k.slot(), std::move(dk));
        }
        if (values.wants_gradient()) {
          Matrix<T> dvalues(graph.sender_nodes(), width);
          reduce_rows<T>(graph.by_sender(), dvalues, heads, [&](const PieceTask<T>& task) {
            add_value_gradient(graph, g, alpha, dropout, task);
          });
          t.accumulate(values.slot(), std::move(dvalues));
        }
      });
}

#define DGAT_INSTANTIATE(T)                                                                       \
  template Var<T> additive_attention(Tape<T>&, const MessageGraph&, const Var<T>&, const Var<T>&, \
                                     const Var<T>&, const EdgeTerm<T>&, const AttentionOptions&,  \
                                     AlphaOut<T>);                                                \
  template Var<T> gatv2_attention(Tape<T>&, const MessageGraph&, const Var<T>&, const Var<T>&,    \
                                  const Var<T>&, const EdgeTerm<T>&, const AttentionOptions&,     \
                                  AlphaOut<T>);                                                   \
  template Var<T> dot_attention(Tape<T>&, const MessageGraph&, const Var<T>&, const Var<T>&,      \
                                const Var<T>&, const EdgeTerm<T>&, const AttentionOptions&,       \
                                AlphaOut<T>)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
