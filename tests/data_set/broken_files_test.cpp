// Every file of tests/data/broken is refused with the message that expected.txt states.
#include "support/broken_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "dgat/core/error.h"
#include "dgat/data/load.h"
#include "support/test_names.h"

namespace dgat::data {
namespace {

class BrokenFile : public testing::TestWithParam<test::BrokenFile> {};

TEST_P(BrokenFile, IsRefusedWithItsMessage) {
  const test::BrokenFile& broken = GetParam();
  try {
    load_dataset(broken.path.string());
    FAIL() << "was accepted";
  } catch (const InputError& error) {  // anything else fails the test: the exit code would be 1
    const std::string message = error.what();
    EXPECT_EQ(message.find_first_of("\r\n"), std::string::npos) << "one line is expected";
    std::string expected = broken.message;
    test::replace_all(expected, "FILE", broken.path.string());
    test::replace_all(expected, "FORMATS", known_formats());
    EXPECT_EQ(message, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, BrokenFile, testing::ValuesIn(test::broken_files()),
                         [](const auto& tested) {
                           return test::test_name(tested.param.path.filename().string());
                         });

TEST(BrokenFiles, EveryOneHasItsLineInTheTable) {
  std::set<std::string> listed;
  for (const test::BrokenFile& broken : test::broken_files()) {
    EXPECT_TRUE(listed.insert(broken.path.filename()).second) << broken.path;
  }
  for (const auto& entry : std::filesystem::directory_iterator(test::broken_folder())) {
    const std::string name = entry.path().filename();
    if (name.starts_with("make") || name == "expected.txt" || name == "__pycache__") continue;
    EXPECT_TRUE(listed.contains(name)) << name << " has no line in expected.txt";
  }
}

}  // namespace
}  // namespace dgat::data
