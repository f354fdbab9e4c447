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

}  // namespace dgat::tensor
