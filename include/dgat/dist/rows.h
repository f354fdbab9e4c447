#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dgat/dist/communicator.h"

/// How the rows of a matrix are distributed over ranks: every rank has a range of them, in order.
namespace dgat::dist {

/// Rank r has the rows [begin(r), end(r)).
struct RowSplit {
  std::vector<int64_t> offsets = {0, 0};
  int64_t rows() const { return offsets.back(); }
  int ranks() const { return static_cast<int>(offsets.size()) - 1; }
  int64_t begin(int rank) const { return offsets[static_cast<size_t>(rank)]; }
  int64_t end(int rank) const { return offsets[static_cast<size_t>(rank) + 1]; }
  int64_t count(int rank) const { return end(rank) - begin(rank); }
  int owner(int64_t row) const {
    return static_cast<int>(std::ranges::upper_bound(offsets, row) - offsets.begin()) - 1;
  }
  bool operator==(const RowSplit&) const = default;
};

/// The split that every matrix of so many rows has: whole units of 16 * ceil(rows / 256), spread
/// evenly. These are the pieces of large products and multiples of the blocks of row loops, so that
/// few blocks lie on two ranks.
RowSplit split_rows(int64_t rows, int ranks);

/// The split in which every block of `length` rows is on one rank: the one that has most of it.
RowSplit split_blocks(const RowSplit& rows, int64_t length);

/// The rows of a matrix that this rank has; none: the matrix is whole on every rank.
struct RowShare {
  Communicator* ranks = nullptr;
  std::shared_ptr<const RowSplit> rows;
  explicit operator bool() const { return ranks != nullptr; }
  int64_t all() const { return rows->rows(); }
  int64_t first() const { return rows->begin(ranks->rank()); }
  int64_t count() const { return rows->count(ranks->rank()); }
};
RowShare share_of(Communicator& ranks, int64_t rows);
RowShare share_of(Communicator& ranks, RowSplit rows);

/// A fixed pattern of rows that ranks send each other.
struct Exchange {
  std::vector<std::vector<int32_t>> send;  ///< to every rank: rows of the local matrix
  std::vector<int64_t> receive;            ///< from every rank: how many
  int64_t rows() const;                    ///< received from all ranks
};

/// The rows `to` gets when every rank sends the rows that the pattern names, in the order of the
/// senders; `width` bytes each. Needs: room for rows().
void exchange_rows(Communicator& ranks, const Exchange& pattern, const std::byte* from,
                   int64_t width, std::byte* to);

/// Moves rows from one split to another.
void regroup_rows(Communicator& ranks, const RowSplit& from, const RowSplit& to,
                  const std::byte* rows, int64_t width, std::byte* out);

/// What the ranks read of each other along the entries of a sparse matrix in CSR form, whose rows
/// are split as `rows`: entry e of a row reads row targets[e] of a matrix split as `read`.
struct Needed {
  Exchange pattern;            ///< brings the rows that this rank reads
  std::vector<int32_t> order;  ///< which they are, ascending
  /// The position of row i of the whole matrix in `order`. Needs: it is one of them.
  int32_t place(int32_t i) const {
    return static_cast<int32_t>(std::ranges::lower_bound(order, i) - order.begin());
  }
};
Needed needed_rows(const Communicator& ranks, std::span<const int64_t> offsets,
                   std::span<const int32_t> targets, const RowSplit& rows, const RowSplit& read);

}  // namespace dgat::dist
