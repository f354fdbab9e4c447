#include "train/schedule.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace dgat::train {
namespace {

/// A model that is asked for nothing but its options and its state.
class Shell final : public nn::Model<float> {
 public:
  explicit Shell(bool statistics) : Model(options(8)), statistics_(statistics) {}
  tensor::Var<float> forward(tensor::Tape<float>& tape, const nn::GraphInput<float>& /*input*/,
                             nn::Inspection<float>* /*inspection*/) override {
    return tape.constant({});
  }
  std::vector<nn::NamedBuffer<float>> buffers() override {
    if (!statistics_) return {};
    return {{"mean", &mean_}};
  }

 private:
  static nn::ModelOptions options(int64_t hidden) {
    nn::ModelOptions o;
    o.hidden = hidden;
    return o;
  }
  bool statistics_;
  tensor::Matrix<float> mean_;
};

/// What happens, in order, when an evaluation is asked for and then waited for.
std::string order(Schedule& schedule) {
  std::string log;
  bool reported = false;
  const std::thread::id caller = std::this_thread::get_id();
  schedule.evaluate([&] { log += "measure "; },
                    [&] {
                      reported = true;
                      log += std::this_thread::get_id() == caller ? "report " : "elsewhere ";
                    });
  const bool at_once = reported;
  schedule.finish();
  schedule.finish();  // nothing is left to wait for
  return log + (at_once ? "at once" : "when finished");
}

TEST(Schedule, ReportsTheEvaluationOfASmallGraphWhenItIsFinished) {
  Shell model(/*statistics=*/false);
  const ThreadScope scope(2);
  Schedule small(model, 10), large(model, 1'000'000);
  for (int round = 0; round < 50; ++round) {
    EXPECT_EQ(order(small), "measure report when finished");
    EXPECT_EQ(order(large), "measure report at once");
  }
}

TEST(Schedule, DoesNothingSideBySideOnOneThreadOrWithRunningStatistics) {
  Shell plain(/*statistics=*/false), counting(/*statistics=*/true);
  {
    const ThreadScope scope(1);
    Schedule schedule(plain, 10);
    EXPECT_EQ(order(schedule), "measure report at once");
  }
  const ThreadScope scope(2);
  Schedule schedule(counting, 10);
  EXPECT_EQ(order(schedule), "measure report at once");
}

TEST(Schedule, PassesOfASmallGraphStayOnOneThread) {
  Shell model(/*statistics=*/false);
  const ThreadScope scope(2);
  EXPECT_EQ(Schedule(model, 10).passes([] { return thread_count(); }), 1);
  EXPECT_EQ(Schedule(model, 1'000'000).passes([] { return thread_count(); }), 2);
  EXPECT_EQ(thread_count(), 2);
}

TEST(Schedule, AnEvaluationThatFailsThrowsInFinish) {
  Shell model(/*statistics=*/false);
  const ThreadScope scope(2);
  Schedule schedule(model, 10);
  schedule.evaluate([] { throw std::runtime_error("not finite"); }, [] { FAIL(); });
  EXPECT_THROW(schedule.finish(), std::runtime_error);
  schedule.finish();
}

}  // namespace
}  // namespace dgat::train
