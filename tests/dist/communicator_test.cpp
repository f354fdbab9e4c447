#include "dgat/dist/communicator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "dgat/core/error.h"
#include "dgat/dist/threads.h"

namespace dgat::dist {
namespace {

/// What rank `from` sends to rank `to`: from * 10 + to, `to + 1` times.
std::vector<std::byte> message(int from, int to) {
  return std::vector<std::byte>(static_cast<size_t>(to + 1),
                                std::byte{static_cast<unsigned char>(from * 10 + to)});
}

TEST(Communicator, AllToAllBringsEveryRankWhatWasSentToItInTheOrderOfTheRanks) {
  for (const int size : {1, 2, 3, 5}) {
    run_ranks(size, [&](Communicator& ranks) {
      std::vector<std::byte> sent, expected;
      std::vector<int64_t> send, receive;
      for (int r = 0; r < size; ++r) {
        const auto out = message(ranks.rank(), r), in = message(r, ranks.rank());
        sent.insert(sent.end(), out.begin(), out.end());
        expected.insert(expected.end(), in.begin(), in.end());
        send.push_back(std::ssize(out));
        receive.push_back(std::ssize(in));
      }
      std::vector<std::byte> got(expected.size());
      ranks.all_to_all(sent.data(), send, got.data(), receive);
      EXPECT_EQ(got, expected);
    });
  }
}

TEST(Communicator, EveryRankGetsTheTextsOfAllAndKnowsWhetherAnyIsTrue) {
  run_ranks(3, [](Communicator& ranks) {
    const auto texts = ranks.all_texts(std::string(static_cast<size_t>(ranks.rank()), 'x'));
    EXPECT_EQ(texts, (std::vector<std::string>{"", "x", "xx"}));
    EXPECT_TRUE(ranks.any(ranks.rank() == 1));
    EXPECT_FALSE(ranks.any(false));
  });
}

TEST(Communicator, AFailureOfOneRankEndsTheOthersAndIsWhatTheCallerSees) {
  try {
    run_ranks(3, [](Communicator& ranks) {
      if (ranks.rank() == 1) throw_input("rank 1 has no data");
      ranks.any(false);
    });
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "rank 1 has no data");
  }
}

TEST(Communicator, AThreadIsAloneUnlessAScopeSaysOtherwise) {
  EXPECT_EQ(current().size(), 1);
  EXPECT_TRUE(leads());
  run_ranks(2, [](Communicator& ranks) {
    EXPECT_EQ(&current(), &ranks);
    EXPECT_EQ(leads(), ranks.rank() == 0);
    const RankScope scope(alone());
    EXPECT_EQ(current().size(), 1);
  });
}

}  // namespace
}  // namespace dgat::dist
