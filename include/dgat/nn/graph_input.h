#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dgat/data/features.h"
#include "dgat/graph/csr_graph.h"
#include "dgat/nn/precomputed.h"
#include "dgat/rewire/edge_features.h"
#include "dgat/tensor/message_graph.h"
#include "dgat/tensor/sparse.h"

namespace dgat::nn {

/// Node features as the kernels want them: dense, or sparse with its transpose.
template <class T>
class NodeFeatures {
 public:
  explicit NodeFeatures(const data::Features& features);
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  bool is_sparse() const { return sparse_.has_value(); }
  const tensor::Matrix<T>& dense() const { return dense_; }           ///< when not is_sparse()
  const tensor::SparseMatrix<T>& sparse() const { return *sparse_; }  ///< when is_sparse()

 private:
  int64_t rows_, cols_;
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
  /// label statistics: they can see no other label.
  std::vector<int32_t> training_labels;
  /// What models derive from graph and features; shared like them.
  std::shared_ptr<PrecomputedParts> precomputed = std::make_shared<PrecomputedParts>();

  int64_t nodes() const { return features->rows(); }
};

}  // namespace dgat::nn
