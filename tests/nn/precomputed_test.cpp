#include "dgat/nn/precomputed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "dgat/core/error.h"

namespace dgat::nn {
namespace {
using testing::HasSubstr;
using Numbers = std::vector<int>;

TEST(Precomputed, APartIsMadeOnceWhoeverAsks) {
  PrecomputedParts parts(1000);
  std::atomic<int> made = 0;
  std::vector<std::shared_ptr<const Numbers>> got(4);
  std::vector<std::thread> jobs;
  for (auto& result : got) {
    jobs.emplace_back([&] {
      result = parts.get<Numbers>(
          "numbers",
          [] {
            return PartSize{400, {}};
          },
          [&made] {
            ++made;
            return Numbers{1, 2, 3};
          });
    });
  }
  for (std::thread& job : jobs) job.join();
  EXPECT_EQ(made, 1);
  for (const auto& result : got) EXPECT_EQ(result, got[0]);
  EXPECT_EQ(*got[0], Numbers({1, 2, 3}));
  EXPECT_EQ(parts.bytes_left(), 600);
}

TEST(Precomputed, BeyondTheBudgetNothingIsMade) {
  PrecomputedParts parts(3'000'000'000);
  const auto ask = [&](const std::string& name, int64_t bytes) {
    return parts.get<Numbers>(
        name,
        [bytes] {
          return PartSize{bytes, "7 pairs"};
        },
        [&] {
          EXPECT_NE(name, "large") << "made in spite of its size";
          return Numbers{};
        });
  };
  ask("small", 1'000'000'000);
  try {
    ask("large", 2'500'000'000);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("large: needs 2.5 GB (7 pairs), 2 GB of the memory budget"));
    EXPECT_THAT(error.what(), HasSubstr("--memory-budget"));
  }
  ask("fits", 2'000'000'000);
}

TEST(Precomputed, AFailureLeavesNothingBehind) {
  PrecomputedParts parts(100);
  const auto size = [] { return PartSize{80, {}}; };
  EXPECT_THROW(parts.get<Numbers>("n", size, []() -> Numbers { throw Interrupted("stop"); }),
               Interrupted);
  EXPECT_EQ(parts.get<Numbers>("n", size, [] { return Numbers{5}; })->front(), 5);
}

}  // namespace
}  // namespace dgat::nn
