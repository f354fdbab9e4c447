#include "dgat/dist/rows.h"

#include <cstring>
#include <numeric>

#include "dgat/core/parallel.h"

namespace dgat::dist {
namespace {

/// Bytes to or from every rank.
std::vector<int64_t> times(std::vector<int64_t> counts, int64_t width) {
  for (int64_t& n : counts) n *= width;
  return counts;
}

/// The rows that two ranges share.
int64_t overlap(int64_t a_begin, int64_t a_end, int64_t b_begin, int64_t b_end) {
  return std::max<int64_t>(0, std::min(a_end, b_end) - std::max(a_begin, b_begin));
}

}  // namespace

RowSplit split_rows(int64_t rows, int ranks) {
  const int64_t unit = 16 * std::max<int64_t>(1, (rows + 255) / 256);
  const int64_t units = (rows + unit - 1) / unit;
  RowSplit split{{0}};
  for (int r = 1; r <= ranks; ++r) {
    split.offsets.push_back(std::min(rows, unit * (units * r / ranks)));
  }
  return split;
}

RowSplit split_blocks(const RowSplit& rows, int64_t length) {
  RowSplit split;
  split.offsets.assign(rows.offsets.size(), 0);
  int owner = 0;
  for (int64_t begin = 0; begin < rows.rows(); begin += length) {
    const int64_t end = std::min(begin + length, rows.rows());
    int64_t most = 0;
    for (int r = rows.owner(begin); r < rows.ranks() && rows.begin(r) < end; ++r) {
      const int64_t here = overlap(begin, end, rows.begin(r), rows.end(r));
      if (here > most) {
        most = here;
        owner = r;
      }
    }
    split.offsets[static_cast<size_t>(owner) + 1] = end;
  }
  for (size_t r = 1; r < split.offsets.size(); ++r) {  // ranks without a block
    split.offsets[r] = std::max(split.offsets[r], split.offsets[r - 1]);
  }
  return split;
}

RowShare share_of(Communicator& ranks, int64_t rows) {
  return share_of(ranks, split_rows(rows, ranks.size()));
}
RowShare share_of(Communicator& ranks, RowSplit rows) {
  return {&ranks, std::make_shared<const RowSplit>(std::move(rows))};
}

int64_t Exchange::rows() const {
  return std::accumulate(receive.begin(), receive.end(), int64_t{0});
}

void exchange_rows(Communicator& ranks, const Exchange& pattern, const std::byte* from,
                   int64_t width, std::byte* to) {
  std::vector<int64_t> bytes;
  int64_t total = 0;
  for (const auto& list : pattern.send) {
    bytes.push_back(std::ssize(list) * width);
    total += bytes.back();
  }
  const auto packed = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(total));
  std::byte* at = packed.get();
  for (const auto& list : pattern.send) {
    const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 16) / std::max<int64_t>(1, width));
    parallel_for(std::ssize(list), grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        std::memcpy(at + i * width, from + list[static_cast<size_t>(i)] * width,
                    static_cast<size_t>(width));
      }
    });
    at += std::ssize(list) * width;
  }
  ranks.all_to_all(packed.get(), bytes, to, times(pattern.receive, width));
}

void regroup_rows(Communicator& ranks, const RowSplit& from, const RowSplit& to,
                  const std::byte* rows, int64_t width, std::byte* out) {
  const int me = ranks.rank();
  std::vector<int64_t> send, receive;
  for (int r = 0; r < ranks.size(); ++r) {
    send.push_back(overlap(from.begin(me), from.end(me), to.begin(r), to.end(r)));
    receive.push_back(overlap(from.begin(r), from.end(r), to.begin(me), to.end(me)));
  }
  ranks.all_to_all(rows, times(send, width), out, times(receive, width));
}

Needed needed_rows(const Communicator& ranks, std::span<const int64_t> offsets,
                   std::span<const int32_t> targets, const RowSplit& rows, const RowSplit& read) {
  const int me = ranks.rank();
  Needed needed;
  needed.pattern.receive.assign(static_cast<size_t>(ranks.size()), 0);
  std::vector<char> marked(static_cast<size_t>(read.rows()));
  for (int q = 0; q < ranks.size(); ++q) {
    std::ranges::fill(marked, char{0});
    const int64_t begin = offsets[static_cast<size_t>(rows.begin(q))],
                  end = offsets[static_cast<size_t>(rows.end(q))];
    for (int64_t e = begin; e < end; ++e) {
      marked[static_cast<size_t>(targets[static_cast<size_t>(e)])] = 1;
    }
    std::vector<int32_t>& list = needed.pattern.send.emplace_back();
    for (int64_t i = read.begin(me); i < read.end(me); ++i) {
      if (marked[static_cast<size_t>(i)] != 0) {
        list.push_back(static_cast<int32_t>(i - read.begin(me)));
      }
    }
    if (q != me) continue;
    for (int r = 0; r < ranks.size(); ++r) {
      for (int64_t i = read.begin(r); i < read.end(r); ++i) {
        if (marked[static_cast<size_t>(i)] == 0) continue;
        needed.order.push_back(static_cast<int32_t>(i));
        ++needed.pattern.receive[static_cast<size_t>(r)];
      }
    }
  }
  return needed;
}

}  // namespace dgat::dist
