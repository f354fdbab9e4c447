#include "dgat/train/results_version.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "dgat/data/sha256.h"
#include "dgat/tensor/simd.h"
#include "dgat/train/inputs.h"
#include "dgat/train/option_table.h"
#include "dgat/train/trainer.h"
#include "support/small_run.h"

namespace dgat::train {
namespace {

/// The kernels that every processor has, until the end of the test: the others differ in the last
/// bits.
class BaselineKernels {
 public:
  BaselineKernels() { set_simd_level(tensor::SimdLevel::kBaseline); }
  ~BaselineKernels() { set_simd_level(before_); }
  BaselineKernels(const BaselineKernels&) = delete;
  BaselineKernels& operator=(const BaselineKernels&) = delete;

 private:
  tensor::SimdLevel before_ = tensor::simd_level();
};

/// The losses of twelve steps on a graph of 60 nodes and the weights of the best one, as a hash.
std::string trained_weights(const std::string& model, const std::string& recipe) {
  const test::SmallTask small(test::small_config(model, {{"recipe", recipe}, {"layers", "2"}}));
  const auto network = make_task_model(small.task);
  data::Sha256 hash;
  TrainHooks hooks;
  hooks.on_evaluation = [&](const StepRecord& r) {  // the weights kept are those of the best step
    hash.update_list(std::span<const double>(&r.loss, 1));
  };
  train_split(small.task, *network, hooks);
  for (const auto& entry : network->parameters().entries()) {
    hash.update_list(entry.parameter.value.values());
  }
  constexpr size_t kDigits = 16;
  return hash.finish().substr(0, kDigits);
}

TEST(ResultsVersion, IsRaisedWhenATrainingGivesOtherWeights) {
  struct Known {
    const char* model;
    const char* recipe;
    const char* weights;
  };
  constexpr Known kKnown[] = {
      {"dgat", "residual", "9fb3c0417d52fc60"},   {"dgat", "classic", "70632da0d02920ef"},
      {"gat", "residual", "b94a436157c4fac0"},    {"gcn", "residual", "225f3f6a91fff367"},
      {"resnet", "residual", "5ea8d198fd71bf6f"},
  };
  static_assert(kResultsVersion == 3, "take over the hashes that the test below prints");
  const BaselineKernels baseline;
  for (const Known& known : kKnown) {
    EXPECT_EQ(trained_weights(known.model, known.recipe), known.weights)
        << known.model << ", recipe " << known.recipe
        << ": a training gives other weights than before. If that is intended, raise "
           "kResultsVersion in "
           "include/dgat/train/results_version.h, say below it which trainings changed, put the "
           "hash "
           "above into this test and add a line under \"Changes results\" in CHANGELOG.md; "
           "otherwise "
           "find what changed them.";
  }
}

TEST(ResultsVersion, EveryOneSaysWhatItChanged) {
  std::set<int64_t> versions;
  for (const ResultsChange& change : kResultsChanges) {
    versions.insert(change.version);
    const auto is_meant = [&](const OptionInfo& info) { return info.key == change.option; };
    EXPECT_TRUE(change.option.empty() || std::ranges::any_of(config_options(), is_meant))
        << change.option << " is no option of training";
  }
  EXPECT_EQ(versions.size(), static_cast<size_t>(kResultsVersion) - 1) << "2 .. kResultsVersion";
  EXPECT_EQ(*versions.rbegin(), kResultsVersion);
}

TEST(ResultsVersion, AnEarlierOneIsEqualWhereNoLaterOneChangedTheOptions) {
  constexpr ResultsChange kChanges[] = {{2, "gamma"}, {3, ""}, {4, "alpha"}, {5, "gamma"}};
  EXPECT_EQ(first_equal_version({}, kChanges), 3);
  EXPECT_EQ(first_equal_version({{"lr", "1"}, {"alpha", "0"}}, kChanges), 4);
  EXPECT_EQ(first_equal_version({{"gamma", "1"}, {"alpha", "0"}}, kChanges), 5);
  EXPECT_EQ(first_equal_version({{"gamma", "1"}}, std::span(kChanges).first(1)), 2);
  EXPECT_EQ(first_equal_version({{"lr", "1"}}, std::span(kChanges).first(1)), 1);
}

}  // namespace
}  // namespace dgat::train
