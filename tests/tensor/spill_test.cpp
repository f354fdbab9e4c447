// Matrices in files: what is computed stays the same, memory is given back, nothing is left behind.
#include "dgat/tensor/spill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/core/memory_limits.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/pool.h"
#include "support/gradcheck.h"
#include "support/temp_dir.h"

namespace dgat::tensor {
namespace {
using testing::ElementsAreArray;
using testing::HasSubstr;

constexpr int64_t kMegabyte = int64_t{1} << 20;

/// A chain of layers whose activations take far more than what stays in memory. Gives loss and
/// gradient.
std::vector<float> pass() {
  constexpr int64_t kRows = 4096, kWidth = 256;  // 4 MiB a matrix
  const auto x = test::random_matrix<float>(kRows, kWidth, 1);
  auto weight = test::random_parameter<float>(kWidth, kWidth, 2, 0.05);
  Tape<float> tape({.training = true, .seed = 3, .step = 1});
  Var<float> h = tape.reference(x);
  for (int layer = 0; layer < 8; ++layer) {
    h = add_dropout(tape, h, gelu(tape, linear(tape, h, tape.parameter(weight))), 0.2);
  }
  const Var<float> loss = test::probe(tape, h);
  std::vector<float> all{loss.value()(0, 0)};
  tape.backward(loss);
  all.insert(all.end(), weight.grad.values().begin(), weight.grad.values().end());
  return all;
}

class Spill : public testing::Test {
 protected:
  void SetUp() override {
    try {
      check_spill_folder(folder.path());
    } catch (const InputError& error) {
      GTEST_SKIP() << error.what();  // temporary files are in memory here
    }
  }
  test::TempDir folder;
};

TEST_F(Spill, GivesTheBitsOfMemory) {
  const std::vector<float> expected = pass();
  for (const int64_t in_memory : {int64_t{1}, 6 * kMegabyte, 24 * kMegabyte, 1024 * kMegabyte}) {
    const SpillScope scope(folder.path(), in_memory);
    EXPECT_THAT(pass(), ElementsAreArray(expected)) << in_memory;
    EXPECT_THAT(pass(), ElementsAreArray(expected)) << in_memory << ", with buffers used again";
    EXPECT_GT(spill_statistics().peak_bytes_in_files, 24 * kMegabyte);
    EXPECT_EQ(spill_statistics().bytes_written > 0, in_memory < 1024 * kMegabyte) << in_memory;
  }
  EXPECT_EQ(spill_statistics().bytes_in_files, 0);
}

/// ThreadSanitizer keeps notes about every number, and these stay in memory.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DGAT_UNDER_TSAN
#endif
#endif

TEST_F(Spill, WhatLeavesMemoryComesBackAsItWas) {
  constexpr int64_t kCount = 32, kNumbers = kMegabyte;  // 4 MiB each
  const SpillScope scope(folder.path(), 16 * kMegabyte);
  const int64_t before = resident_bytes();
  std::vector<Matrix<float>> all;
  for (int64_t m = 0; m < kCount; ++m) {
    all.push_back(Matrix<float>::filled(1, kNumbers, static_cast<float>(m)));
  }
#ifdef DGAT_UNDER_TSAN
  static_cast<void>(before);
#else
  EXPECT_LT(resident_bytes() - before, 64 * kMegabyte) << "128 MiB were made, 16 may stay";
#endif
  for (int64_t m = 0; m < kCount; ++m) {
    const Matrix<float>& matrix = all[static_cast<size_t>(m)];
    EXPECT_EQ(matrix(0, 0), static_cast<float>(m));
    EXPECT_EQ(matrix(0, kNumbers - 1), static_cast<float>(m));
  }
}

TEST_F(Spill, FilesHaveNoNames) {
  const SpillScope scope(folder.path(), kMegabyte);
  const auto matrix = Matrix<float>::filled(1024, 1024, 1);
  EXPECT_GT(spill_statistics().bytes_in_files, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "a kill would leave something behind";
}

TEST_F(Spill, SmallMatricesStayInMemory) {
  const SpillScope scope(folder.path(), kMegabyte);
  const auto matrix = Matrix<float>::filled(100, 100, 1);
  EXPECT_EQ(spill_statistics().bytes_in_files, 0);
}

TEST_F(Spill, MatricesMayOutliveTheScope) {
  Matrix<float> matrix;
  {
    const SpillScope scope(folder.path(), kMegabyte);
    matrix = Matrix<float>::filled(1024, 1024, 7);
  }
  EXPECT_EQ(matrix(1023, 1023), 7);
  EXPECT_GT(spill_statistics().bytes_in_files, 0);
  matrix = {};
  trim_pool();
  EXPECT_EQ(spill_statistics().bytes_in_files, 0);
}

TEST_F(Spill, AFullDiskIsOneSentence) {
  const SpillScope scope(folder.path(), kMegabyte);
  try {
    const Matrix<float> matrix(int64_t{1} << 24, int64_t{1} << 20);  // 64 TiB
    FAIL();
  } catch (const ComputeError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no room for another file of 67108864 MiB"));
    EXPECT_THAT(error.what(), HasSubstr(folder.path().string()));
  }
}

TEST_F(Spill, AFolderThatSavesNothingIsRefused) {
  const auto refusal = [](const std::filesystem::path& path) {
    try {
      check_spill_folder(path);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(refusal(folder.path()), "nothing");
  EXPECT_THAT(refusal(folder / "missing"), HasSubstr("is not a folder; make it first"));
  if (std::filesystem::is_directory("/dev/shm")) {
    EXPECT_THAT(refusal("/dev/shm"), HasSubstr("is in memory"));
  }
}

}  // namespace
}  // namespace dgat::tensor
