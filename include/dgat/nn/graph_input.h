#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dgat/data/features.h"
#include "dgat/graph/cells.h"
#include "dgat/graph/csr_graph.h"
#include "dgat/nn/precomputed.h"
#include "dgat/rewire/edge_features.h"
#include "dgat/tensor/message_graph.h"
#include "dgat/tensor/sparse.h"

namespace dgat::nn {

/// Node features in the form that the kernels read: dense, or sparse with its transpose.
template <class T>
class NodeFeatures {
 public:
  explicit NodeFeatures(const data::Features& features);
  /// The rows of this rank.
  NodeFeatures part(dist::Communicator& ranks) const;
  /// Some rows, in the order given.
  NodeFeatures rows_of(std::span<const int32_t> nodes) const;
  const dist::RowShare& share() const { return share_; }  ///< none: all rows are here
  int64_t rows() const { return rows_; }                  ///< on all ranks together
  int64_t cols() const { return cols_; }
  bool is_sparse() const { return sparse_.has_value(); }
  const tensor::Matrix<T>& dense() const { return dense_; }           ///< when not is_sparse()
  const tensor::SparseMatrix<T>& sparse() const { return *sparse_; }  ///< when is_sparse()

 private:
  NodeFeatures() = default;
  int64_t rows_ = 0, cols_ = 0;
  dist::RowShare share_;
  tensor::Matrix<T> dense_;
  std::optional<tensor::SparseMatrix<T>> sparse_;
};

/// The graph that attention runs on (rewired, with self loops) and its directional features.
template <class T>
struct Messages {
  explicit Messages(const rewire::MessageGraph& source);
  Messages(tensor::MessageGraph arcs, tensor::Matrix<T> arc_features)
      : graph(std::move(arcs)), features(std::move(arc_features)) {}
  /// Only the arcs that arrive at these nodes: receiver r is nodes[r]; sender s is senders[s], or
  /// node s without a list.
  Messages into(std::span<const int32_t> nodes,
                std::optional<std::span<const int32_t>> senders = {}) const;
  /// The arcs among these nodes, which increase; node k is nodes[k]. Features of arcs stay.
  Messages among(std::span<const int32_t> nodes) const;
  /// The part of this rank; into() on it gives parts of the wanted graph, which keep nothing whole.
  static Messages part(std::shared_ptr<const Messages> whole, dist::Communicator& ranks);
  /// The graph of all nodes, on every rank.
  const tensor::MessageGraph& whole_graph() const { return whole ? whole->graph : graph; }
  std::shared_ptr<const Messages> whole;  ///< that this is the part of, if any
  tensor::MessageGraph graph;
  tensor::Matrix<T> features;  ///< [arcs, 2k]; empty without directions
};

/// What a model sees of one graph. Parts are shared between splits and depths.
template <class T>
struct GraphInput {
  std::shared_ptr<const NodeFeatures<T>> features;
  std::shared_ptr<const Messages<T>> messages;
  std::shared_ptr<const graph::CsrGraph> graph;  ///< as it was read: no rewiring, no self loops
  /// One per node, -1 outside the training nodes; empty at prediction. For models that start from
  /// label statistics; they have no access to other labels.
  std::vector<int32_t> training_labels;
  /// What models derive from graph and features; shared like them.
  std::shared_ptr<PrecomputedParts> precomputed = std::make_shared<PrecomputedParts>();

  /// The ranks that share this graph, of which one is this process; null: it is alone. Features and
  /// messages are the parts of this rank, the rest is whole.
  dist::Communicator* ranks = nullptr;

  /// Training steps read some of these cells each (induced_input()); null: all nodes.
  std::shared_ptr<const graph::Cells> cells = nullptr;

  int64_t nodes() const { return features->rows(); }
};

/// The part of one rank of an input that every rank has whole; features may be its part already.
/// Ranks exchange nothing for it: the parts are a function of the input.
template <class T>
GraphInput<T> part_of(const GraphInput<T>& input, dist::Communicator& ranks);

/// What a model sees of some nodes and the edges and messages among them. The nodes increase; node
/// k is nodes[k]. Degrees are those of the smaller graph, directional features those of the whole.
///
/// Cost: O(nodes of the whole graph + arcs of the given nodes). Needs: an input without ranks.
template <class T>
GraphInput<T> induced_input(const GraphInput<T>& input, std::span<const int32_t> nodes);

}  // namespace dgat::nn
