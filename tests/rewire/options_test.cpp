#include "dgat/rewire/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dgat/core/error.h"

namespace dgat::rewire {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(RewireMode, EveryNameIsReadAndWrittenBack) {
  for (const char* name : {"none", "auto", "prune-near", "prune-far", "add", "hub",
                           "prune-near+add", "prune-far+add", "prune-near+hub", "prune-far+hub"}) {
    EXPECT_EQ(to_string(parse_mode(name)), name);
  }
  EXPECT_EQ(parse_mode("prune-far+add"), (Mode{.prune = Prune::kFar, .join = Join::kOpposite}));
  EXPECT_EQ(parse_mode("hub"), (Mode{.join = Join::kHub}));
}

TEST(RewireMode, OtherNamesAreRefusedWithTheList) {
  for (const char* name : {"", "prune", "+", "add+prune-far", "prune-far+", "+add", "none+add",
                           "prune-far+add+hub", "prune-far+prune-near", "auto+add"}) {
    EXPECT_THAT(
        [&] { parse_mode(name); },
        ThrowsMessage<InputError>(HasSubstr("use none, advised, auto, prune-near, prune-far")))
        << name;
  }
}

TEST(Epsilon, IsAValueOrAQuantile) {
  EXPECT_EQ(parse_epsilon("1e-7"), (Epsilon{.value = 1e-7}));
  EXPECT_EQ(parse_epsilon("0"), (Epsilon{.value = 0}));
  EXPECT_EQ(parse_epsilon("q0.2"), (Epsilon{.value = 0.2, .quantile = true}));
  EXPECT_EQ(parse_epsilon("q1"), (Epsilon{.value = 1, .quantile = true}));
  for (const char* text : {"1e-07", "q0.2", "3.5"}) {
    EXPECT_EQ(to_string(parse_epsilon(text)), text);
  }
}

TEST(Epsilon, NonsenseIsRefusedAndNamed) {
  for (const char* text : {"", "q", "-1", "q1.5", "q-0.1", "0.2q", "nan", "inf", "1e999", "0.1 "}) {
    EXPECT_THAT([&] { parse_epsilon(text); },
                ThrowsMessage<InputError>(HasSubstr("got '" + std::string(text) + "'")))
        << text;
  }
}

}  // namespace dgat::rewire
