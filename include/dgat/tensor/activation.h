#pragma once

namespace dgat::tensor {

/// kGelu is exact (erf), kElu has alpha 1, kLeakyRelu takes its slope beside it.
enum class Activation { kGelu, kElu, kRelu, kLeakyRelu, kTanh, kSigmoid };

}  // namespace dgat::tensor
