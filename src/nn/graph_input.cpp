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

template class NodeFeatures<float>;
template class NodeFeatures<double>;
template struct Messages<float>;
template struct Messages<double>;

}  // namespace dgat::nn
