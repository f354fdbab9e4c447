#include "dgat/tensor/split.h"

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"

namespace dgat::tensor {

template <class T>
Matrix<T> all_rows(dist::Communicator& ranks, const dist::RowSplit& rows, const Matrix<T>& x) {
  expects(x.rows() == rows.count(ranks.rank()), "all_rows: the rows of this rank");
  std::vector<int64_t> bytes;
  bytes.reserve(static_cast<size_t>(ranks.size()));
  for (int r = 0; r < ranks.size(); ++r) bytes.push_back(rows.count(r) * row_bytes(x));
  Matrix<T> out(rows.rows(), x.cols());
  ranks.all_gather(bytes_of(x), bytes_of(out), bytes);
  return out;
}

template <class T>
Matrix<T> own_rows(const dist::RowShare& share, const Matrix<T>& whole) {
  expects(whole.rows() == share.all(), "own_rows: of a whole matrix");
  Matrix<T> own(share.count(), whole.cols());
  std::copy_n(whole.row(share.first()), own.size(), own.data());
  return own;
}

BlockRows::BlockRows(const dist::RowShare& share, int64_t length)
    : share_(share), to_(dist::split_blocks(*share.rows, length)), stays_(to_ == *share.rows) {
  blocks_.offsets.clear();
  for (const int64_t row : to_.offsets) blocks_.offsets.push_back(block_count(row, length));
}

template <class T>
void add_rows_in_order(dist::Communicator& ranks, const dist::RowSplit& rows,
                       const Matrix<T>& parts, bool zeros, bool accumulate, Matrix<T>& out) {
  const int64_t size = out.size(), own = parts.rows();
  const int me = ranks.rank();
  dist::RowSplit slices{{0}};
  for (int r = 1; r <= ranks.size(); ++r) slices.offsets.push_back(size * r / ranks.size());
  // The slice of every rank, part by part.
  Matrix<T> packed(1, own * size), received(rows.rows(), slices.count(me));
  std::vector<int64_t> send, receive, gathered;
  T* at = packed.data();
  for (int r = 0; r < ranks.size(); ++r) {
    const int64_t width = slices.count(r);
    for (int64_t p = 0; p < own; ++p, at += width) {
      std::copy_n(parts.row(p) + slices.begin(r), width, at);
    }
    constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
    send.push_back(own * width * kBytes);
    receive.push_back(rows.count(r) * slices.count(me) * kBytes);
    gathered.push_back(width * kBytes);
  }
  ranks.all_to_all(bytes_of(packed), send, bytes_of(received), receive);
  Matrix<T> sum(1, slices.count(me));
  T* total = sum.data();
  parallel_for(sum.size(), 1 << 14, [&](int64_t begin, int64_t end) {
    int64_t next = 0;
    if (accumulate) {
      std::copy(out.data() + slices.begin(me) + begin, out.data() + slices.begin(me) + end,
                total + begin);
    } else {
      std::copy(received.row(0) + begin, received.row(0) + end, total + begin);
      next = 1;
    }
    for (; next < received.rows(); ++next) {
      const T* part = received.row(next);
      for (int64_t i = begin; i < end; ++i) total[i] += part[i];
    }
    if (zeros) {  // turns -0 into 0
      for (int64_t i = begin; i < end; ++i) total[i] += T{0};
    }
  });
  ranks.all_gather(bytes_of(sum), bytes_of(out), gathered);
}

#define DGAT_INSTANTIATE(T)                                                                     \
  template Matrix<T> all_rows(dist::Communicator&, const dist::RowSplit&, const Matrix<T>&);    \
  template Matrix<T> own_rows(const dist::RowShare&, const Matrix<T>&);                         \
  template void add_rows_in_order(dist::Communicator&, const dist::RowSplit&, const Matrix<T>&, \
                                  bool, bool, Matrix<T>&)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
