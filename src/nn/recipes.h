#pragma once

#include <memory>

#include "convolution.h"

/// The recipes: networks that any convolution can be put into.
namespace dgat::nn {

struct NetKind {
  ConvolutionKind convolution = ConvolutionKind::kNone;
  bool separate = false;     ///< a layer reads [own_i || message_i]
  bool directional = false;  ///< scores have a directional term
};

/// x <- x + FFN(convolution(LayerNorm(x))) between an input and an output map (residual_net.cpp).
template <class T>
std::unique_ptr<Model<T>> make_residual_net(const ModelOptions& options, const NetKind& kind);

/// x <- ELU(attention(x)), the network of the original GAT (classic_net.cpp). Needs: an attention,
/// not separate.
template <class T>
std::unique_ptr<Model<T>> make_classic_net(const ModelOptions& options, const NetKind& kind);

/// x <- dropout(ReLU(norm(convolution(x) + skip(x)))), then an output map (deep_net.cpp). An
/// attention is not separate; sage is by its own definition.
template <class T>
std::unique_ptr<Model<T>> make_deep_net(const ModelOptions& options, const NetKind& kind);

/// The one that the options ask for.
template <class T>
std::unique_ptr<Model<T>> make_recipe_net(const ModelOptions& options, NetKind kind) {
  kind.directional = kind.directional && options.directional;
  switch (options.recipe) {
    case Recipe::kClassic:
      return make_classic_net<T>(options, kind);
    case Recipe::kDeep:
      return make_deep_net<T>(options, kind);
    default:
      return make_residual_net<T>(options, kind);
  }
}

}  // namespace dgat::nn
