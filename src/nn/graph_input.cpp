#include "dgat/nn/graph_input.h"

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/graph/builder.h"
#include "dgat/tensor/split.h"

namespace dgat::nn {

template <class T>
NodeFeatures<T>::NodeFeatures(const data::Features& features)
    : rows_(features.rows()), cols_(features.cols()) {
  if (features.is_sparse()) {
    const std::vector<T> values(features.values().begin(), features.values().end());
    sparse_.emplace(rows_, cols_, features.offsets(), features.columns(), values);
  } else {
    dense_ = tensor::Matrix<T>::from(rows_, cols_, features.values());
  }
}

template <class T>
NodeFeatures<T> NodeFeatures<T>::part(dist::Communicator& ranks) const {
  NodeFeatures part;
  part.rows_ = rows_;
  part.cols_ = cols_;
  part.share_ = dist::share_of(ranks, rows_);
  if (sparse_) {
    part.sparse_.emplace(sparse_->part(ranks, /*split_columns=*/false));
  } else {
    part.dense_ = tensor::own_rows(part.share_, dense_);
  }
  return part;
}

template <class T>
NodeFeatures<T> NodeFeatures<T>::rows_of(std::span<const int32_t> nodes) const {
  NodeFeatures some;
  some.rows_ = std::ssize(nodes);
  some.cols_ = cols_;
  if (!sparse_) {
    some.dense_ = tensor::Matrix<T>(some.rows_, cols_);
    for (size_t k = 0; k < nodes.size(); ++k) {
      std::copy_n(dense_.row(nodes[k]), cols_, some.dense_.row(static_cast<int64_t>(k)));
    }
    return some;
  }
  const auto& csr = sparse_->csr();
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> columns;
  std::vector<T> values;
  for (const int32_t i : nodes) {
    const int64_t begin = csr.offsets[static_cast<size_t>(i)],
                  end = csr.offsets[static_cast<size_t>(i) + 1];
    columns.insert(columns.end(), csr.columns.begin() + begin, csr.columns.begin() + end);
    values.insert(values.end(), csr.values.begin() + begin, csr.values.begin() + end);
    offsets.push_back(std::ssize(columns));
  }
  some.sparse_.emplace(some.rows_, cols_, offsets, columns, values);
  return some;
}

template <class T>
Messages<T>::Messages(const rewire::MessageGraph& source)
    : graph(source.offsets, source.senders),
      features(tensor::Matrix<T>::from(source.arcs(), source.feature_count, source.features)) {}

template <class T>
Messages<T> Messages<T>::into(std::span<const int32_t> nodes,
                              std::optional<std::span<const int32_t>> senders) const {
  if (whole) {
    Messages some = part(std::make_shared<const Messages>(whole->into(nodes, senders)),
                         *graph.share()->arcs.ranks);
    some.whole.reset();
    return some;
  }
  expects(!graph.share(), "Messages::into: not of a part of a wanted graph");
  tensor::MessageGraph kept = graph.into(nodes, senders);
  tensor::Matrix<T> rows(features.empty() ? 0 : kept.arcs(), features.cols());
  for (size_t r = 0; r < nodes.size() && !features.empty(); ++r) {
    const auto i = static_cast<size_t>(nodes[r]);
    const T *begin = features.row(graph.offsets()[i]), *end = features.row(graph.offsets()[i + 1]);
    std::copy(begin, end, rows.row(kept.offsets()[r]));
  }
  return Messages(std::move(kept), std::move(rows));
}

template <class T>
Messages<T> Messages<T>::among(std::span<const int32_t> nodes) const {
  std::vector<int32_t> place(static_cast<size_t>(graph.sender_nodes()), -1);
  for (size_t k = 0; k < nodes.size(); ++k) {
    place[static_cast<size_t>(nodes[k])] = static_cast<int32_t>(k);
  }
  std::vector<int64_t> offsets{0}, kept;  // kept: arcs of the whole graph
  std::vector<int32_t> senders;
  for (const int32_t i : nodes) {
    const auto at = static_cast<size_t>(i);
    for (int64_t e = graph.offsets()[at]; e < graph.offsets()[at + 1]; ++e) {
      const int32_t k = place[static_cast<size_t>(graph.senders()[static_cast<size_t>(e)])];
      if (k < 0) continue;
      senders.push_back(k);
      kept.push_back(e);
    }
    offsets.push_back(std::ssize(senders));
  }
  tensor::Matrix<T> rows(features.empty() ? 0 : std::ssize(kept), features.cols());
  for (int64_t e = 0; e < rows.rows(); ++e) {
    std::copy_n(features.row(kept[static_cast<size_t>(e)]), features.cols(), rows.row(e));
  }
  return Messages(tensor::MessageGraph(std::move(offsets), std::move(senders)), std::move(rows));
}

template <class T>
Messages<T> Messages<T>::part(std::shared_ptr<const Messages> all, dist::Communicator& ranks) {
  tensor::MessageGraph arcs = all->graph.part(ranks);
  const dist::RowShare& share = arcs.share()->arcs;
  tensor::Matrix<T> rows(0, all->features.cols());
  if (!all->features.empty()) rows = tensor::own_rows(share, all->features);
  Messages part(std::move(arcs), std::move(rows));
  part.whole = std::move(all);
  return part;
}

template <class T>
GraphInput<T> part_of(const GraphInput<T>& input, dist::Communicator& ranks) {
  GraphInput<T> part = input;
  if (!part.features->share()) {
    part.features = std::make_shared<const NodeFeatures<T>>(input.features->part(ranks));
  }
  part.messages = std::make_shared<const Messages<T>>(Messages<T>::part(input.messages, ranks));
  part.ranks = &ranks;
  return part;
}

template <class T>
GraphInput<T> induced_input(const GraphInput<T>& input, std::span<const int32_t> nodes) {
  expects(input.ranks == nullptr, "induced_input: the input is whole");
  std::vector<bool> keep(static_cast<size_t>(input.nodes()));
  for (const int32_t i : nodes) keep[static_cast<size_t>(i)] = true;
  GraphInput<T> some;
  some.features = std::make_shared<const NodeFeatures<T>>(input.features->rows_of(nodes));
  some.messages = std::make_shared<const Messages<T>>(input.messages->among(nodes));
  some.graph =
      std::make_shared<const graph::CsrGraph>(graph::induced_subgraph(*input.graph, keep).graph);
  for (const int32_t i : nodes) {
    if (input.training_labels.empty()) break;
    some.training_labels.push_back(input.training_labels[static_cast<size_t>(i)]);
  }
  return some;
}

template class NodeFeatures<DGAT_SCALAR>;
template GraphInput<DGAT_SCALAR> induced_input(const GraphInput<DGAT_SCALAR>&,
                                               std::span<const int32_t>);
template GraphInput<DGAT_SCALAR> part_of(const GraphInput<DGAT_SCALAR>&, dist::Communicator&);
template struct Messages<DGAT_SCALAR>;

}  // namespace dgat::nn
