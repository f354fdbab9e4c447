#pragma once

#include "operand.h"

/// Products whose operands are rounded to bf16 on the way into tiles (kernels/tile_unit.h). Numbers
/// of the inner dimension are summed 32 at a time, in order, so that a number of the result depends
/// on its row and its column only, however the result is cut. Need: has_bf16().
namespace dgat::tensor {

/// Whether no side is too short for tiles.
bool fits_tiles(int64_t m, int64_t n, int64_t k);

/// out (+)= a b (+ bias in every row), k the inner dimension; all threads take rows of `out`. `b`
/// is packed once, `a` by panels of rows.
void bf16_product(const Operand<float>& a, const Operand<float>& b, int64_t k, Matrix<float>& out,
                  bool accumulate, const float* bias);

/// c (+)= a b, m x n numbers, on this thread: for a long inner dimension k, which is packed by
/// slabs.
void bf16_gemm(const Operand<float>& a, const Operand<float>& b, int64_t m, int64_t n, int64_t k,
               bool accumulate, float* c, int64_t c_stride);

}  // namespace dgat::tensor
