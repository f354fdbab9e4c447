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

/// Gradient of the values: sum over the arcs that leave j of alpha_ij g_i.
template <class T>
Matrix<T> value_gradient(const MessageGraph& graph, const Matrix<T>& g, const Matrix<T>& alpha,
                         const AlphaDropout& dropout) {
  const auto g_back = Back<T>::receivers(graph, g), alpha_back = Back<T>::arcs(graph, alpha);
  Matrix<T> dvalues(graph.sender_nodes(), g.cols());
  reduce_rows<T>(graph.by_sender(), dvalues, alpha.cols(), [&](const PieceTask<T>& task) {
    add_value_gradient(graph, *g_back, *alpha_back, dropout, task);
  });
  return dvalues;
}

/// Sums per block of receivers, of the whole graph on every rank. A block on two ranks is summed by
/// the first, whose sum the second continues; add(piece, scratch, sum) adds a piece.
template <class T, class Add>
Matrix<T> sums_of_all_blocks(const MessageGraph& graph, Matrix<T> sums, const Add& add) {
  const GraphShare& share = *graph.share();
  dist::Communicator& ranks = *share.arcs.ranks;
  const RowPlan& plan = graph.by_receiver();
  const int64_t width = sums.cols();
  Matrix<T> state = Matrix<T>::zeros(1, width);
  if (plan.blocks() > 0) std::copy_n(sums.row(plan.blocks() - 1), width, state.data());
  for (int r = 0; r + 1 < ranks.size(); ++r) {
    std::vector<int64_t> send(static_cast<size_t>(ranks.size())), receive = send;
    const bool sends = ranks.rank() == r && share.ends_inside;
    const bool receives = ranks.rank() == r + 1 && share.begins_inside;
    if (sends) send[static_cast<size_t>(r) + 1] = row_bytes(state);
    if (receives) receive[static_cast<size_t>(r)] = row_bytes(state);
    Matrix<T> before(1, width);
    ranks.all_to_all(bytes_of(state), send, bytes_of(before), receive);
    if (!receives) continue;
    if (plan.blocks() == 0) {
      state = std::move(before);
      continue;
    }
    Matrix<T> scratch = Matrix<T>::zeros(1, width);
    for (int64_t p = 0; p < plan.block_offsets[1]; ++p) {
      add(plan.pieces[static_cast<size_t>(p)], scratch.data(), before.data());
    }
    std::copy_n(before.data(), width, sums.row(0));
    if (plan.blocks() == 1) state = std::move(before);
  }
  const int64_t ended = share.blocks.count(ranks.rank());
  Matrix<T> own(ended, width);
  std::copy_n(sums.data(), own.size(), own.data());
  return all_rows(ranks, share.blocks, own);
}

dist::RowShare share_of_receivers(const MessageGraph& graph) {
  return graph.share() ? graph.share()->receivers : dist::RowShare{};
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
  const Var<T> sent = rows_of_senders(tape, graph, values),
               sent_scores = rows_of_senders(tape, graph, src);

  // What the scores of a piece are made of; the backward pass makes them again.
  const auto parts = [&graph, dst, sent_scores, slope](const EdgeScores<T>& terms,
                                                       const RowPiece& piece) {
    return terms.additive(dst.value().row(piece.row), senders_of(graph, sent_scores.value(), piece),
                          piece, slope);
  };
  const bool recording = tape.records({values, dst, src, edge.coefficients, edge.bias});
  Attended<T> attended =
      attend(graph, sent.value(), heads, dropout, recording || alpha_out != nullptr,
             [&](const RowPiece& piece, T* s) {
               kernels<T>().additive_scores(parts(edges, piece), piece.end - piece.begin, s);
             });
  give_alpha(attended.alpha, recording, alpha_out);
  const Var<T> out = tape.constant(std::move(attended.out), share_of_receivers(graph));
  return tape.record(
      out, {values, dst, src, edge.coefficients, edge.bias},
      [&graph, sent = sent.for_backward(), slot = values.slot(), dst_slot = dst.slot(),
       src_slot = src.slot(), out = out, parts, dropout, heads, edges = std::move(edges),
       alpha = std::move(attended.alpha)](Tape<T>& t, const Matrix<T>& g) mutable {
        const Matrix<T> result_dots = take_result_dots(g, out, heads);
        if (slot >= 0) t.accumulate(slot, value_gradient(graph, g, alpha, dropout));
        sent.value();
        Matrix<T> ddst(graph.nodes(), heads);
        Matrix<T>& ds = alpha;  // in its place
        reduce_rows<T>(graph.by_receiver(), ddst, heads, [&](const PieceTask<T>& task) {
          T* piece_ds = task.scratch;
          score_gradient(graph, g, result_dots, sent.value(), alpha, dropout, task.piece, piece_ds);
          kernels<T>().additive_scores_backward(parts(edges, task.piece), task.count(), piece_ds,
                                                task.sum);
          std::copy_n(piece_ds, task.count() * heads, ds.row(task.piece.begin));
        });
        t.accumulate(dst_slot, std::move(ddst));
        edges.backward(t, ds);
        if (src_slot >= 0) {
          const auto ds_back = Back<T>::arcs(graph, ds);
          Matrix<T> dsrc(graph.sender_nodes(), heads);
          reduce_rows<T>(graph.by_sender(), dsrc, 0, [&](const PieceTask<T>& task) {
            add_rows_by_arc(*ds_back, graph.arc_of().data() + task.piece.begin, task.count(),
                            task.sum);
          });
          t.accumulate(src_slot, std::move(dsrc));
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
  const Var<T> sent = rows_of_senders(tape, graph, src);
  const bool recording = tape.records({dst, src, a, edge.coefficients, edge.bias});
  Attended<T> attended =
      attend(graph, sent.value(), heads, dropout, recording || alpha_out != nullptr,
             [&](const RowPiece& piece, T* s) {
               kernels<T>().gatv2_scores(dst.value().row(piece.row),
                                         senders_of(graph, sent.value(), piece), a.value().data(),
                                         slope, heads, piece.end - piece.begin, s);
               edges.add_to(piece, heads, s);
             });
  give_alpha(attended.alpha, recording, alpha_out);
  const Var<T> out = tape.constant(std::move(attended.out), share_of_receivers(graph));
  return tape.record(
      out, {dst, src, a, edge.coefficients, edge.bias},
      [&graph, dst = dst.for_backward(), src = src.for_backward(), sent = sent.for_backward(), a,
       out = out, dropout, slope, heads, edges = std::move(edges),
       alpha = std::move(attended.alpha)](Tape<T>& t, const Matrix<T>& g) mutable {
        const Matrix<T> result_dots = take_result_dots(g, out, heads);
        for (const Var<T>& read : {dst, src, sent}) read.value();
        const int64_t width = src.cols();
        Matrix<T> ds(graph.arcs(), heads), ddst(graph.nodes(), width);
        Matrix<T> da = Matrix<T>::zeros(graph.by_receiver().blocks(), width);
        reduce_rows<T>(graph.by_receiver(), ddst, 0, [&](const PieceTask<T>& task) {
          T* piece_ds = ds.row(task.piece.begin);
          score_gradient(graph, g, result_dots, sent.value(), alpha, dropout, task.piece, piece_ds);
          kernels<T>().gatv2_backward(
              dst.value().row(task.piece.row), senders_of(graph, sent.value(), task.piece),
              a.value().data(), slope, piece_ds, heads, task.count(), task.sum, da.row(task.block));
        });
        if (graph.share()) {
          da = sums_of_all_blocks(
              graph, std::move(da), [&](const RowPiece& piece, T* scratch, T* sum) {
                kernels<T>().gatv2_backward(dst.value().row(piece.row),
                                            senders_of(graph, sent.value(), piece),
                                            a.value().data(), slope, ds.row(piece.begin), heads,
                                            piece.end - piece.begin, scratch, sum);
              });
        }
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
        const auto g_back = Back<T>::receivers(graph, g),
                   dst_back = Back<T>::receivers(graph, dst.value());
        const auto alpha_back = Back<T>::arcs(graph, alpha), ds_back = Back<T>::arcs(graph, ds);
        Matrix<T> dsrc(graph.sender_nodes(), width);
        reduce_rows<T>(graph.by_sender(), dsrc, heads, [&](const PieceTask<T>& task) {
          add_value_gradient(graph, *g_back, *alpha_back, dropout, task);
          gather_by_arc((*ds_back).data(), graph.arc_of().data() + task.piece.begin, heads,
                        task.count(), task.scratch);
          kernels<T>().gatv2_backward(src.value().row(task.piece.row),
                                      receivers_of(graph, *dst_back, task.piece), a.value().data(),
                                      slope, task.scratch, heads, task.count(), task.sum, nullptr);
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
  const Var<T> sent = rows_of_senders(tape, graph, values),
               sent_keys = rows_of_senders(tape, graph, k);
  const bool recording = tape.records({q, k, values, edge.coefficients, edge.bias});
  Attended<T> attended =
      attend(graph, sent.value(), heads, dropout, recording || alpha_out != nullptr,
             [&](const RowPiece& piece, T* s) {
               const int64_t count = piece.end - piece.begin;
               kernels<T>().dots(q.value().row(piece.row),
                                 senders_of(graph, sent_keys.value(), piece), heads, count, s);
               for (int64_t i = 0; i < count * heads; ++i) s[i] *= scale;
               edges.add_to(piece, heads, s);
             });
  give_alpha(attended.alpha, recording, alpha_out);
  const Var<T> out = tape.constant(std::move(attended.out), share_of_receivers(graph));
  return tape.record(
      out, {q, k, values, edge.coefficients, edge.bias},
      [&graph, q = q.for_backward(), sent_keys = sent_keys.for_backward(),
       sent = sent.for_backward(), k_slot = k.slot(), slot = values.slot(), out = out, dropout,
       scale, heads, width, edges = std::move(edges),
       alpha = std::move(attended.alpha)](Tape<T>& t, const Matrix<T>& g) mutable {
        const Matrix<T> result_dots = take_result_dots(g, out, heads);
        if (slot >= 0) t.accumulate(slot, value_gradient(graph, g, alpha, dropout));
        for (const Var<T>& read : {q, sent_keys, sent}) read.value();
        Matrix<T> dq(graph.nodes(), width);
        Matrix<T>& ds = alpha;  // in its place
        reduce_rows<T>(graph.by_receiver(), dq, 2 * heads, [&](const PieceTask<T>& task) {
          T* piece_ds = task.scratch + heads * kPieceEntries;
          score_gradient(graph, g, result_dots, sent.value(), alpha, dropout, task.piece, piece_ds);
          std::copy_n(piece_ds, task.count() * heads, ds.row(task.piece.begin));
          for (int64_t i = 0; i < task.count() * heads; ++i) task.scratch[i] = piece_ds[i] * scale;
          kernels<T>().weighted_sum(senders_of(graph, sent_keys.value(), task.piece), task.scratch,
                                    heads, task.count(), task.sum);
        });
        t.accumulate(q.slot(), std::move(dq));
        edges.backward(t, ds);
        if (k_slot >= 0) {
          const auto ds_back = Back<T>::arcs(graph, ds),
                     q_back = Back<T>::receivers(graph, q.value());
          Matrix<T> dk(graph.sender_nodes(), width);
          reduce_rows<T>(graph.by_sender(), dk, heads, [&](const PieceTask<T>& task) {
            gather_by_arc((*ds_back).data(), graph.arc_of().data() + task.piece.begin, heads,
                          task.count(), task.scratch);
            for (int64_t i = 0; i < task.count() * heads; ++i) task.scratch[i] *= scale;
            kernels<T>().weighted_sum(receivers_of(graph, *q_back, task.piece), task.scratch, heads,
                                      task.count(), task.sum);
          });
          t.accumulate(k_slot, std::move(dk));
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
