#include "dgat/core/suggest.h"

#include <gtest/gtest.h>

namespace dgat {
namespace {

TEST(Suggest, EditDistanceCountsInsertionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("dgta", "dgat"), 1);
  EXPECT_EQ(edit_distance("same", "same"), 0);
}

TEST(Suggest, OnlyNearNamesAreSuggested) {
  const std::vector<std::string> names = {"dropout", "hidden", "lr"};
  EXPECT_EQ(did_you_mean("droput", names), "; did you mean dropout?");
  EXPECT_EQ(did_you_mean("lrr", names), "; did you mean lr?");
  EXPECT_EQ(did_you_mean("momentum", names), "");
  EXPECT_EQ(did_you_mean("x", {}), "");
}

}  // namespace
}  // namespace dgat
