#pragma once

#include <algorithm>
#include <cstring>

#include "dgat/core/parallel.h"
#include "dgat/tensor/matrix.h"
#include "dgat/tensor/message_graph.h"
#include "kernels/kernels.h"

/// Sums over the rows of a CSR matrix, in parallel, with the same bits at every thread count.
namespace dgat::tensor {

/// What a piece function is given beside its piece.
template <class T>
struct PieceTask {
  const RowPiece& piece;
  T* sum;         ///< add here: `width` entries, zero at first
  T* scratch;     ///< scratch_per_entry numbers for every entry of the piece
  int64_t block;  ///< for results that are summed per block
  int64_t count() const { return piece.end - piece.begin; }
};

/// The long rows of out from the sums of their pieces, in order.
template <class T>
void add_parts(const RowPlan& plan, const Matrix<T>& partial, Matrix<T>& out) {
  const int64_t width = out.cols();
  parallel_for(static_cast<int64_t>(plan.long_rows.size()), 1, [&](int64_t begin, int64_t) {
    const RowPlan::LongRow& merged = plan.long_rows[static_cast<size_t>(begin)];
    T* sum = out.row(merged.row);
    std::fill(sum, sum + width, T{0});
    for (int64_t p = merged.first_part; p < merged.first_part + merged.parts; ++p) {
      const T* part = partial.row(p);
      for (int64_t c = 0; c < width; ++c) sum[c] += part[c];
    }
  });
}

/// Row i of out = what body(task) adds over the pieces of row i; pieces of long rows are added in
/// order. out must have the plan's rows; its entries need not be set.
template <class T, class Body>
void reduce_rows(const RowPlan& plan, Matrix<T>& out, int64_t scratch_per_entry, const Body& body) {
  const int64_t width = out.cols();
  Matrix<T> partial(plan.parts, width);
  parallel_blocks(plan.blocks(), 1, [&](int64_t block, int64_t, int64_t) {
    Matrix<T> scratch(1, scratch_per_entry * kPieceEntries);
    const auto first = plan.pieces.begin() + plan.block_offsets[static_cast<size_t>(block)];
    const auto end = plan.pieces.begin() + plan.block_offsets[static_cast<size_t>(block) + 1];
    // Whole rows of a block follow one another: cleared together. (A long row among them is
    // cleared too and written later.)
    const auto whole = std::find_if(first, end, [](const RowPiece& p) { return p.part < 0; });
    if (whole != end) {
      auto last = end - 1;
      while (last->part >= 0) --last;
      std::fill(out.row(whole->row), out.row(last->row + 1), T{0});
    }
    for (auto piece = first; piece != end; ++piece) {
      T* sum = out.row(piece->row);
      if (piece->part >= 0) {
        sum = partial.row(piece->part);
        std::fill(sum, sum + width, T{0});
      }
      body(PieceTask<T>{*piece, sum, scratch.data(), block});
    }
  });
  add_parts(plan, partial, out);
}

/// Rows of a matrix in the order of the senders of a receiver's piece, or of the receivers of a
/// sender's piece.
template <class T>
IndexedRows<T> senders_of(const MessageGraph& graph, const Matrix<T>& x, const RowPiece& piece) {
  return {x.data(), graph.senders().data() + piece.begin, x.cols()};
}
template <class T>
IndexedRows<T> receivers_of(const MessageGraph& graph, const Matrix<T>& x, const RowPiece& piece) {
  return {x.data(), graph.receivers().data() + piece.begin, x.cols()};
}

/// to[e, :] = from[arcs[e], :] for `count` rows of `width` numbers: values stored by arc, wanted in
/// the order of a sender.
template <class T>
void gather_by_arc(const T* from, const int32_t* arcs, int64_t width, int64_t count, T* to) {
  constexpr int64_t kUsualHeads = 8;  // known to the compiler: a load and a store
  if (width == kUsualHeads) {
    for (int64_t e = 0; e < count; ++e) {
      std::memcpy(to + e * kUsualHeads, from + arcs[e] * kUsualHeads, kUsualHeads * sizeof(T));
    }
    return;
  }
  for (int64_t e = 0; e < count; ++e) {
    const T* row = from + arcs[e] * width;
    std::copy(row, row + width, to + e * width);
  }
}

}  // namespace dgat::tensor
