#include "dgat/nn/graph_input.h"

#include <algorithm>

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
Messages<T>::Messages(const rewire::MessageGraph& source)
    : graph(source.offsets, source.senders),
      features(tensor::Matrix<T>::from(source.arcs(), source.feature_count, source.features)) {}

template <class T>
Messages<T> Messages<T>::into(std::span<const int32_t> nodes,
                              std::optional<std::span<const int32_t>> senders) const {
  tensor::MessageGraph kept = graph.into(nodes, senders);
  tensor::Matrix<T> rows(features.empty() ? 0 : kept.arcs(), features.cols());
  for (size_t r = 0; r < nodes.size() && !features.empty(); ++r) {
    const auto i = static_cast<size_t>(nodes[r]);
    const T *begin = features.row(graph.offsets()[i]), *end = features.row(graph.offsets()[i + 1]);
    std::copy(begin, end, rows.row(kept.offsets()[r]));
  }
  return Messages(std::move(kept), std::move(rows));
}

template class NodeFeatures<DGAT_SCALAR>;
template struct Messages<DGAT_SCALAR>;

}  // namespace dgat::nn
