#include "dgat/tensor/blas.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "blas_kernels.h"
#include "dgat/tensor/gemm.h"
#include "support/gradcheck.h"

namespace dgat::tensor {
namespace {

/// A product large enough to go to the library, against sums in double.
void expect_right_products() {
  const auto a = test::random_matrix<float>(300, 200, 1),
             b = test::random_matrix<float>(200, 150, 2);
  Matrix<float> out(300, 150);
  multiply_into(a, b, out);
  for (int64_t i = 0; i < out.rows(); ++i) {
    for (int64_t j = 0; j < out.cols(); ++j) {
      double sum = 0;
      for (int64_t k = 0; k < a.cols(); ++k) sum += double{a(i, k)} * double{b(k, j)};
      ASSERT_NEAR(out(i, j), sum, 1e-4) << i << ", " << j;
    }
  }
}

TEST(Blas, OldKernelsAreReplacedByWhatTheProcessorCanDo) {
  EXPECT_EQ(better_kernels("Prescott", SimdLevel::kAvx512), "SkylakeX");
  EXPECT_EQ(better_kernels("Prescott", SimdLevel::kAvx2), "Haswell");
  EXPECT_EQ(better_kernels("Prescott", SimdLevel::kBaseline), "");
  EXPECT_EQ(better_kernels("Sandybridge", SimdLevel::kAvx2), "Haswell");
}

TEST(Blas, WhatTheLibraryChoseIsKeptWhereItFits) {
  for (const char* fitting :
       {"Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids", "later"}) {
    EXPECT_EQ(better_kernels(fitting, SimdLevel::kAvx512), "") << fitting;
  }
}

TEST(Blas, ProductsAreRightWithOtherKernelsAndTheChoiceOfTheEnvironmentStays) {
  prepare_blas();
  const std::string chosen = blas_kernels();
  if (!use_kernels("Prescott")) GTEST_SKIP() << "this OpenBLAS does not choose kernels at run time";
  EXPECT_EQ(blas_kernels(), "Prescott");
  expect_right_products();
  EXPECT_TRUE(use_kernels(chosen)) << chosen;
  expect_right_products();
  EXPECT_FALSE(use_kernels("no such kernels"));
  EXPECT_TRUE(use_kernels(chosen)) << chosen;
}

TEST(Blas, AModernProcessorHasModernKernels) {
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) GTEST_SKIP() << "OPENBLAS_CORETYPE is set";
  prepare_blas();
  EXPECT_EQ(better_kernels(blas_kernels(), best_simd_level()), "") << blas_kernels();
}

}  // namespace
}  // namespace dgat::tensor
