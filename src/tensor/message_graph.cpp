#include "dgat/tensor/message_graph.h"

#include <algorithm>

#include "dgat/core/error.h"

namespace dgat::tensor {
namespace {
// Work of one task, in arcs: a sixteenth of a small graph, little enough that a large one balances.
// A row costs something even without arcs.
constexpr int64_t kLeastWork = 256, kMostWork = 2048;
constexpr int64_t kRowWork = 2;
}  // namespace

RowPlan plan_rows(std::span<const int64_t> offsets) {
  RowPlan plan;
  plan.block_offsets.push_back(0);
  const int64_t total = offsets.back() + kRowWork * (std::ssize(offsets) - 1);
  const int64_t block_work = std::clamp(total / 16, kLeastWork, kMostWork);
  int64_t work = 0;
  const auto add = [&](const RowPiece& piece) {
    const int64_t cost = piece.end - piece.begin + kRowWork;
    if (work > 0 && work + cost > block_work) {
      plan.block_offsets.push_back(static_cast<int64_t>(plan.pieces.size()));
      work = 0;
    }
    plan.pieces.push_back(piece);
    work += cost;
  };
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    const int64_t begin = offsets[i], end = offsets[i + 1];
    const int32_t row = static_cast<int32_t>(i);
    if (end - begin <= kPieceEntries) {
      add({begin, end, row, -1});
      continue;
    }
    const int64_t count = (end - begin + kPieceEntries - 1) / kPieceEntries;
    plan.long_rows.push_back({row, static_cast<int32_t>(plan.parts), static_cast<int32_t>(count)});
    for (int64_t p = 0; p < count; ++p) {
      const int64_t first = begin + p * kPieceEntries;
      add({first, std::min(first + kPieceEntries, end), row, static_cast<int32_t>(plan.parts++)});
    }
  }
  if (!plan.pieces.empty()) plan.block_offsets.push_back(static_cast<int64_t>(plan.pieces.size()));
  return plan;
}

MessageGraph::MessageGraph(std::vector<int64_t> offsets, std::vector<int32_t> senders,
                           std::optional<int64_t> sender_nodes)
    : offsets_(std::move(offsets)), senders_(std::move(senders)) {
  expects(!offsets_.empty() && offsets_.front() == 0 && offsets_.back() == arcs() &&
              std::is_sorted(offsets_.begin(), offsets_.end()),
          "MessageGraph: offsets rise from 0 to the number of arcs");
  expects(arcs() <= INT32_MAX, "MessageGraph: at most 2^31 - 1 arcs");
  const int64_t sending = sender_nodes.value_or(nodes());
  sender_offsets_.assign(static_cast<size_t>(sending) + 1, 0);
  for (const int32_t sender : senders_) {
    expects(sender >= 0 && sender < sending, "MessageGraph: senders are nodes");
    ++sender_offsets_[static_cast<size_t>(sender) + 1];
  }
  for (size_t i = 1; i < sender_offsets_.size(); ++i) sender_offsets_[i] += sender_offsets_[i - 1];
  std::vector<int64_t> next(sender_offsets_.begin(), sender_offsets_.end() - 1);
  receivers_.resize(senders_.size());
  arc_of_.resize(senders_.size());
  for (int64_t i = 0; i < nodes(); ++i) {
    for (int64_t e = offsets_[static_cast<size_t>(i)]; e < offsets_[static_cast<size_t>(i) + 1];
         ++e) {
      const auto at =
          static_cast<size_t>(next[static_cast<size_t>(senders_[static_cast<size_t>(e)])]++);
      receivers_[at] = static_cast<int32_t>(i);
      arc_of_[at] = static_cast<int32_t>(e);
    }
  }
  by_receiver_ = plan_rows(offsets_);
  by_sender_ = plan_rows(sender_offsets_);
}

MessageGraph MessageGraph::into(std::span<const int32_t> receivers,
                                std::optional<std::span<const int32_t>> kept) const {
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> senders;
  for (const int32_t i : receivers) {
    expects(i >= 0 && i < nodes(), "MessageGraph: receivers are nodes");
    const int64_t begin = offsets_[static_cast<size_t>(i)],
                  end = offsets_[static_cast<size_t>(i) + 1];
    senders.insert(senders.end(), senders_.begin() + begin, senders_.begin() + end);
    offsets.push_back(static_cast<int64_t>(senders.size()));
  }
  if (!kept) return MessageGraph(std::move(offsets), std::move(senders), sender_nodes());
  std::vector<int32_t> place(static_cast<size_t>(sender_nodes()), -1);
  for (size_t s = 0; s < kept->size(); ++s) {
    place.at(static_cast<size_t>((*kept)[s])) = static_cast<int32_t>(s);
  }
  for (int32_t& sender : senders) {
    sender = place[static_cast<size_t>(sender)];
    expects(sender >= 0, "MessageGraph: every sender is kept");
  }
  return MessageGraph(std::move(offsets), std::move(senders), std::ssize(*kept));
}

MessageGraph MessageGraph::from(const graph::CsrGraph& graph, bool self_loops) {
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> senders;
  offsets.reserve(static_cast<size_t>(graph.nodes()) + 1);
  senders.reserve(static_cast<size_t>(graph.arcs() + (self_loops ? graph.nodes() : 0)));
  for (graph::NodeId i = 0; i < graph.nodes(); ++i) {
    bool pending = self_loops;
    for (const graph::NodeId j : graph.neighbors(i)) {
      if (pending && j > i) {
        senders.push_back(i);
        pending = false;
      }
      senders.push_back(j);
    }
    if (pending) senders.push_back(i);
    offsets.push_back(static_cast<int64_t>(senders.size()));
  }
  return MessageGraph(std::move(offsets), std::move(senders));
}

namespace {

/// The offsets of some rows, counted from 0.
std::vector<int64_t> offsets_of(std::span<const int64_t> all, const dist::RowSplit& rows,
                                int rank) {
  std::vector<int64_t> part(all.begin() + rows.begin(rank), all.begin() + rows.end(rank) + 1);
  const int64_t first = part.front();
  for (int64_t& offset : part) offset -= first;
  return part;
}

/// Split like the rows whose entries they are.
dist::RowSplit entries_of(std::span<const int64_t> offsets, const dist::RowSplit& rows) {
  dist::RowSplit entries;
  entries.offsets.clear();
  for (const int64_t row : rows.offsets) {
    entries.offsets.push_back(offsets[static_cast<size_t>(row)]);
  }
  return entries;
}

}  // namespace

namespace {

/// The pieces of the rows [begin, end) of a plan, in its blocks; entries count from `first_entry`.
RowPlan plan_of_rows(const RowPlan& all, int64_t begin, int64_t end, int64_t first_entry,
                     GraphShare& share) {
  const auto piece_of = [&](int64_t row) {
    return std::ranges::lower_bound(all.pieces, row, {}, &RowPiece::row) - all.pieces.begin();
  };
  const int64_t first = piece_of(begin), last = piece_of(end);
  RowPlan plan;
  for (const RowPlan::LongRow& row : all.long_rows) {
    if (row.row < begin || row.row >= end) continue;
    plan.long_rows.push_back(
        {static_cast<int32_t>(row.row - begin), static_cast<int32_t>(plan.parts), row.parts});
    plan.parts += row.parts;
  }
  int32_t parts = 0;
  for (int64_t p = first; p < last; ++p) {
    RowPiece piece = all.pieces[static_cast<size_t>(p)];
    piece.begin -= first_entry;
    piece.end -= first_entry;
    piece.row -= static_cast<int32_t>(begin);
    if (piece.part >= 0) piece.part = parts++;
    plan.pieces.push_back(piece);
  }
  plan.block_offsets = {0};
  for (const int64_t offset : all.block_offsets) {
    if (offset > first && offset < last) plan.block_offsets.push_back(offset - first);
  }
  if (last > first) plan.block_offsets.push_back(last - first);
  const auto is_inside = [&](int64_t p) {
    return !std::ranges::binary_search(all.block_offsets, p);
  };
  share.begins_inside = is_inside(first);
  share.ends_inside = is_inside(last);
  return plan;
}

/// How many blocks of a plan end in the first rows of every rank.
dist::RowSplit ended_blocks(const RowPlan& plan, const dist::RowSplit& rows) {
  dist::RowSplit ended;
  ended.offsets.clear();
  for (const int64_t row : rows.offsets) {
    const int64_t piece =
        std::ranges::lower_bound(plan.pieces, row, {}, &RowPiece::row) - plan.pieces.begin();
    ended.offsets.push_back(std::ranges::upper_bound(plan.block_offsets, piece) -
                            plan.block_offsets.begin() - 1);
  }
  return ended;
}

}  // namespace

MessageGraph MessageGraph::part(dist::Communicator& ranks) const {
  expects(!share_, "MessageGraph: a part of the whole graph");
  const int me = ranks.rank();
  auto share = std::make_shared<GraphShare>();
  share->receivers = dist::share_of(ranks, nodes());
  share->senders = dist::share_of(ranks, sender_nodes());
  const dist::RowSplit &in = *share->receivers.rows, &out = *share->senders.rows;
  share->arcs = dist::share_of(ranks, entries_of(offsets_, in));
  const dist::RowSplit& arcs = *share->arcs.rows;

  MessageGraph part;
  part.offsets_ = offsets_of(offsets_, in, me);
  part.sender_offsets_ = offsets_of(sender_offsets_, out, me);
  dist::Needed read = dist::needed_rows(ranks, offsets_, senders_, in, out);
  for (int64_t e = arcs.begin(me); e < arcs.end(me); ++e) {
    part.senders_.push_back(read.place(senders_[static_cast<size_t>(e)]));
  }
  share->from_senders = std::move(read.pattern);

  dist::Needed back = dist::needed_rows(ranks, sender_offsets_, receivers_, out, in);
  share->from_arcs.send.resize(static_cast<size_t>(ranks.size()));
  for (int64_t e = arcs.begin(me); e < arcs.end(me); ++e) {
    const int owner = out.owner(senders_[static_cast<size_t>(e)]);
    share->from_arcs.send[static_cast<size_t>(owner)].push_back(
        static_cast<int32_t>(e - arcs.begin(me)));
  }
  share->from_arcs.receive.assign(static_cast<size_t>(ranks.size()), 0);
  const int64_t first = sender_offsets_[static_cast<size_t>(out.begin(me))],
                last = sender_offsets_[static_cast<size_t>(out.end(me))];
  std::vector<int32_t> own(arc_of_.begin() + first, arc_of_.begin() + last);
  std::ranges::sort(own);
  for (int64_t k = first; k < last; ++k) {
    const auto at = static_cast<size_t>(k);
    part.receivers_.push_back(back.place(receivers_[at]));
    part.arc_of_.push_back(
        static_cast<int32_t>(std::ranges::lower_bound(own, arc_of_[at]) - own.begin()));
    ++share->from_arcs.receive[static_cast<size_t>(in.owner(receivers_[at]))];
  }
  share->from_receivers = std::move(back.pattern);
  part.by_receiver_ = plan_of_rows(by_receiver_, in.begin(me), in.end(me), arcs.begin(me), *share);
  share->blocks = ended_blocks(by_receiver_, in);
  part.by_sender_ = plan_rows(part.sender_offsets_);
  part.share_ = std::move(share);
  return part;
}

}  // namespace dgat::tensor
