#pragma once

#include "dgat/dist/rows.h"
#include "dgat/tensor/matrix.h"

/// Matrices whose rows are split over ranks (dist/rows.h), for operations that read or sum rows
/// of other ranks. Nothing here depends on what the numbers are added to, so results have the same
/// bits at every number of ranks.
namespace dgat::tensor {

template <class T>
const std::byte* bytes_of(const Matrix<T>& x) {
  return reinterpret_cast<const std::byte*>(x.data());
}
template <class T>
std::byte* bytes_of(Matrix<T>& x) {
  return reinterpret_cast<std::byte*>(x.data());
}
template <class T>
int64_t row_bytes(const Matrix<T>& x) {
  return x.cols() * static_cast<int64_t>(sizeof(T));
}

/// The whole matrix, on every rank. Needs: x has the rows that `rows` gives this rank.
template <class T>
Matrix<T> all_rows(dist::Communicator& ranks, const dist::RowSplit& rows, const Matrix<T>& x);
template <class T>
Matrix<T> all_rows(const dist::RowShare& share, const Matrix<T>& x) {
  return all_rows(*share.ranks, *share.rows, x);
}

/// The rows of a whole matrix that this rank has.
template <class T>
Matrix<T> own_rows(const dist::RowShare& share, const Matrix<T>& whole);

/// The rows that the pattern brings to this rank.
template <class T>
Matrix<T> exchanged(dist::Communicator& ranks, const dist::Exchange& pattern, const Matrix<T>& x) {
  Matrix<T> out(pattern.rows(), x.cols());
  dist::exchange_rows(ranks, pattern, bytes_of(x), row_bytes(x), bytes_of(out));
  return out;
}

/// Split rows as a loop over blocks needs them: every block of `length` rows on one rank. The split
/// of all matrices (dist::split_rows) is made so that few rows move, and often none.
class BlockRows {
 public:
  BlockRows(const dist::RowShare& share, int64_t length);

  int64_t rows() const { return to_.count(rank()); }  ///< on this rank
  int64_t first_row() const { return to_.begin(rank()); }
  /// How the blocks are split over ranks: those of this rank follow one another.
  const dist::RowSplit& blocks() const { return blocks_; }
  int64_t own_blocks() const { return blocks_.count(rank()); }

  /// The rows of x split by blocks: x itself, or `room`, into which they are moved.
  template <class T>
  const Matrix<T>& in(const Matrix<T>& x, Matrix<T>& room) const {
    if (stays_) return x;
    room = moved(*share_.rows, to_, x);
    return room;
  }
  /// A result in blocks, or one to add to, and back.
  template <class T>
  Matrix<T> in(Matrix<T> x) const {
    return stays_ ? std::move(x) : moved(*share_.rows, to_, x);
  }
  template <class T>
  Matrix<T> back(Matrix<T> x) const {
    return stays_ ? std::move(x) : moved(to_, *share_.rows, x);
  }

 private:
  int rank() const { return share_.ranks->rank(); }
  template <class T>
  Matrix<T> moved(const dist::RowSplit& from, const dist::RowSplit& to, const Matrix<T>& x) const {
    Matrix<T> out(to.count(rank()), x.cols());
    dist::regroup_rows(*share_.ranks, from, to, bytes_of(x), row_bytes(x), bytes_of(out));
    return out;
  }
  dist::RowShare share_;
  dist::RowSplit to_, blocks_;
  bool stays_;
};

/// out (+)= the rows of `parts` added one after another, on every rank; the rows are split as
/// `rows`, and `zeros` further rows of zeros follow them. Every rank adds its piece of
/// the columns. Needs: out.size() == parts.cols().
template <class T>
void add_rows_in_order(dist::Communicator& ranks, const dist::RowSplit& rows,
                       const Matrix<T>& parts, bool zeros, bool accumulate, Matrix<T>& out);

}  // namespace dgat::tensor
