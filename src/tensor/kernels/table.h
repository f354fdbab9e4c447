// Defines the kernel table of the level that the including file is compiled for.
#pragma once

#include "kernels/bf16.h"
#include "kernels/columns.h"
#include "kernels/elementwise.h"
#include "kernels/gather.h"
#include "kernels/heads.h"
#include "kernels/products.h"
#include "kernels/rows.h"

namespace dgat::tensor::DGAT_LEVEL {

template <class T>
const Kernels<T>& table() {
  static constexpr Kernels<T> kTable = {
      .activate = activate<T>,
      .activate_backward = activate_backward<T>,
      .dropout = dropout<T>,
      .add_dropout = add_dropout<T>,
      .dropout_gelu = dropout_gelu<T>,
      .relu_dropout = relu_dropout<T>,
      .norm_relu_dropout = norm_relu_dropout<T>,
      .negate_dropped = negate_dropped<T>,
      .layer_norm = layer_norm<T>,
      .layer_norm_backward = layer_norm_backward<T>,
      .add_rows = add_rows<T>,
      .add_squares = add_squares<T>,
      .norm_relu_backward_sums = norm_relu_backward_sums<T>,
      .norm_backward = norm_backward<T>,
      .all_finite = all_finite<T>,
      .exponential = exponential_range<T>,
      .adam = adam<T>,
      .softmax_parts = softmax_parts<T>,
      .scale_heads = scale_heads<T>,
      .softmax_backward = softmax_backward<T>,
      .add_edge_terms = add_edge_terms<T>,
      .additive_scores = additive_scores<T>,
      .additive_scores_backward = additive_scores_backward<T>,
      .weighted_sum = weighted_sum<T>,
      .sparse_rows = sparse_rows<T>,
      .dots = dots<T>,
      .head_dots = head_dots<T>,
      .head_dots_backward = head_dots_backward<T>,
      .small_product = small_product<T>,
      .turn = turn<T>,
      .pack_tile = pack_tile<T>,
      .multiply_tile = multiply_tile<T>,
      .gatv2_scores = gatv2_scores<T>,
      .gatv2_backward = gatv2_backward<T>,
  };
  return kTable;
}

template const Kernels<float>& table();
template const Kernels<double>& table();

}  // namespace dgat::tensor::DGAT_LEVEL
