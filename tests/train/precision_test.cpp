// Training with large products in bf16, on emulated tiles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/train/option_table.h"
#include "support/emulated_tiles.h"
#include "support/small_run.h"

namespace dgat::train {
namespace {
using tensor::TileUnit;
using test::EmulatedTiles;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::Not;

std::string precision_of(const Config& config) {
  return find_option("precision").get(config);
}

TEST(Precision, IsF32UnlessAsked) {
  EXPECT_EQ(precision_of(resolve({})), "f32");
  EXPECT_THROW(resolve({{"precision", "fp16"}}), InputError);
}

TEST(Precision, AutoIsWhatTheMachineHas) {
  {
    const EmulatedTiles none(TileUnit::kNone);
    EXPECT_EQ(precision_of(resolve({{"precision", "auto"}})), "f32");
  }
  const EmulatedTiles tiles;
  EXPECT_EQ(precision_of(resolve({{"precision", "auto"}})), "bf16");
  EXPECT_THAT(to_yaml(resolve({{"precision", "auto"}})), HasSubstr("precision: bf16"));
}

TEST(Precision, Bf16WithoutAmxIsRefusedInASentenceThatNamesAuto) {
  const EmulatedTiles none(TileUnit::kNone);
  const test::SmallTask small(test::small_config("dgat", {{"precision", "bf16"}}));
  const auto model = make_task_model(small.task);
  try {
    train_split(small.task, *model);
    FAIL() << "it trained";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("precision: bf16 needs a processor with AMX"));
    EXPECT_THAT(error.what(), HasSubstr("use auto"));
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
  }
}

/// Wide enough for the hidden products to be large ones.
std::vector<float> weights_in(const char* precision) {
  synth::CsbmOptions graph = test::small_csbm();
  graph.nodes = 90;
  const test::SmallTask small(
      test::small_config("dgat", {{"precision", precision}, {"hidden", "160"}, {"steps", "3"}}),
      synth::csbm(graph));
  const auto model = make_task_model(small.task);
  train_split(small.task, *model);
  std::vector<float> all;
  for (const auto& entry : model->parameters().entries()) {
    const auto values = entry.parameter.value.values();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

TEST(Precision, Bf16TrainsWithTheSameBitsAtEveryThreadCount) {
  const EmulatedTiles tiles;
  std::vector<float> expected;
  for (const int threads : {1, 2, 3}) {
    const ThreadScope scope(threads);
    const std::vector<float> weights = weights_in("bf16");
    if (expected.empty()) expected = weights;
    EXPECT_THAT(weights, ElementsAreArray(expected)) << threads << " threads";
  }
  const std::vector<float> f32 = weights_in("f32");
  EXPECT_NE(f32, expected) << "nothing was rounded";
  for (size_t i = 0; i < f32.size(); ++i) ASSERT_NEAR(expected[i], f32[i], 0.07) << i;
}

TEST(Precision, F32DoesNotDependOnTheTiles) {
  std::vector<float> with;
  {
    const EmulatedTiles tiles;
    with = weights_in("f32");
  }
  const EmulatedTiles none(TileUnit::kNone);
  EXPECT_EQ(weights_in("f32"), with);
}

}  // namespace
}  // namespace dgat::train
