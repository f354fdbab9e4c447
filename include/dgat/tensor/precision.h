#pragma once

/// The precision of large dense products (gemm.h). Everything else is computed in float.
namespace dgat::tensor {

enum class Precision {
  kF32,
  /// The operands are rounded to bf16 (8 bits of mantissa, to nearest, ties to even); products are
  /// added in float. Small products stay in float.
  kBf16
};

/// Whether Precision::kBf16 can be used: on processors with AMX tiles, where the system grants them
/// to this process. The first call asks it.
bool has_bf16();

}  // namespace dgat::tensor
