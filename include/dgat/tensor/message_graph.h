#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dgat/dist/rows.h"
#include "dgat/graph/csr_graph.h"

namespace dgat::tensor {

inline constexpr int64_t kPieceEntries = 1024;  ///< longest piece of a row

/// A piece of one row small enough for one task. Long rows (hubs) are cut into several pieces.
struct RowPiece {
  int64_t begin = 0, end = 0;  ///< entries of the row, positions in the CSR arrays
  int32_t row = 0;
  int32_t part = -1;  ///< -1: the whole row; else which partial result this piece fills
};

/// How loops go through the rows of a CSR matrix: in pieces, grouped into blocks of about equal
/// work. Rows of hubs are cut into several pieces. A function of the matrix only, never of the
/// number of threads.
struct RowPlan {
  struct LongRow {
    int32_t row = 0;
    int32_t first_part = 0, parts = 0;
  };
  std::vector<RowPiece> pieces;  ///< in row order
  std::vector<int64_t>
      block_offsets;  ///< pieces of block b: [block_offsets[b], block_offsets[b+1])
  std::vector<LongRow> long_rows;
  int64_t parts = 0;  ///< partial results of all long rows together
  int64_t blocks() const { return static_cast<int64_t>(block_offsets.size()) - 1; }
};
RowPlan plan_rows(std::span<const int64_t> offsets);

/// What the part of a graph on one rank reads of other ranks.
struct GraphShare {
  dist::RowShare receivers, senders, arcs;  ///< the rows on this rank
  dist::Exchange from_senders;              ///< the senders of its receivers
  dist::Exchange from_receivers;            ///< the receivers of its senders
  dist::Exchange from_arcs;                 ///< the arcs that leave its senders
  /// The blocks of by_receiver() are those of the whole graph. The first one here may begin on the
  /// previous rank, the last one may end on the next rank.
  bool begins_inside = false, ends_inside = false;
  dist::RowSplit blocks;  ///< by the rank on which they end
};

/// The arcs that messages travel along, receivers as rows (self loops included when wanted), and
/// the same arcs sorted by sender for backward passes. Immutable; arc e keeps its position. Usually
/// receivers and senders are the same nodes; into() makes graphs where they are not.
///
/// Cost: O(nodes + arcs) to build; 8 bytes per arc beside the CSR itself.
class MessageGraph {
 public:
  MessageGraph() = default;
  /// offsets: receivers + 1; senders: one per arc, columns in any order, in [0, sender_nodes),
  /// which are as many as the receivers unless given. Throws InternalError when the arrays are not
  /// such a CSR matrix.
  MessageGraph(std::vector<int64_t> offsets, std::vector<int32_t> senders,
               std::optional<int64_t> sender_nodes = {});
  /// The arcs of a graph, each row followed in order by its self loop at its sorted place.
  static MessageGraph from(const graph::CsrGraph& graph, bool self_loops);

  /// The arcs that arrive at these receivers: row r is receivers[r]. Senders keep their numbers, or
  /// sender s is senders[s] of a list that has every needed sender once.
  MessageGraph into(std::span<const int32_t> receivers,
                    std::optional<std::span<const int32_t>> senders = {}) const;

  /// The part of this rank: the arcs that arrive at its receivers, and the arcs that leave its
  /// senders for the way back. senders(), receivers() and arc_of() then count what the patterns of
  /// share() bring; offsets() and sender_offsets() count from the rank's first row.
  MessageGraph part(dist::Communicator& ranks) const;
  const std::shared_ptr<const GraphShare>& share() const { return share_; }  ///< null: whole

  int64_t nodes() const { return static_cast<int64_t>(offsets_.size()) - 1; }  ///< receivers
  int64_t sender_nodes() const { return static_cast<int64_t>(sender_offsets_.size()) - 1; }
  int64_t arcs() const { return static_cast<int64_t>(senders_.size()); }
  std::span<const int64_t> offsets() const { return offsets_; }
  std::span<const int32_t> senders() const { return senders_; }
  const RowPlan& by_receiver() const { return by_receiver_; }

  /// Arcs sorted by sender: positions [sender_offsets[j], sender_offsets[j+1]) hold the receiver
  /// and the arc index of every arc that leaves j, in increasing arc order.
  std::span<const int64_t> sender_offsets() const { return sender_offsets_; }
  std::span<const int32_t> receivers() const { return receivers_; }
  std::span<const int32_t> arc_of() const { return arc_of_; }
  const RowPlan& by_sender() const { return by_sender_; }

 private:
  std::vector<int64_t> offsets_ = {0}, sender_offsets_ = {0};
  std::vector<int32_t> senders_, receivers_, arc_of_;
  RowPlan by_receiver_, by_sender_;
  std::shared_ptr<const GraphShare> share_;
};

}  // namespace dgat::tensor
