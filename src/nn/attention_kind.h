#pragma once

#include <memory>

#include "dgat/nn/model.h"

namespace dgat::nn {

/// How neighbours are weighed.
enum class Aggregation {
  kNone,       ///< resnet: no graph
  kMean,       ///< sage
  kSymmetric,  ///< gcn
  kAdditive,   ///< gat: LeakyReLU(a_dst.y_i + a_src.y_j)
  kGatv2,      ///< gatv2: a.LeakyReLU(W_dst x_i + W_src x_j)
  kDotProduct  ///< gt: q_i.k_j / sqrt(d)
};

/// The networks of recipe `residual` (src/nn/residual_net.cpp).
template <class T>
std::unique_ptr<Model<T>> make_residual_net(const ModelOptions& options, Aggregation aggregation,
                                            bool separate, bool directional);

/// The networks of recipe `classic` (src/nn/classic_net.cpp); aggregation is one of the attentions.
template <class T>
std::unique_ptr<Model<T>> make_classic_net(const ModelOptions& options, Aggregation aggregation,
                                           bool directional);

}  // namespace dgat::nn
