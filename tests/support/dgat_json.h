#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/run_dgat.h"

namespace dgat::test {

/// What `dgat arguments... --json` prints; a test failure when it does not succeed.
inline nlohmann::json dgat_json(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const RunResult run = run_dgat(arguments);
  EXPECT_EQ(run.exit, 0) << run.err;
  return nlohmann::json::parse(run.out);
}

/// Expects these values under these keys; there may be more.
inline void expect_fields(const nlohmann::json& printed, const nlohmann::json& expected) {
  for (const auto& [key, value] : expected.items()) EXPECT_EQ(printed.at(key), value) << key;
}

/// Expects success and all of these texts in what it prints.
inline void expect_printed(const std::vector<std::string>& arguments,
                           const std::vector<std::string>& texts) {
  const RunResult run = run_dgat(arguments);
  EXPECT_EQ(run.exit, 0) << run.err;
  for (const std::string& text : texts) EXPECT_THAT(run.out, testing::HasSubstr(text));
}

}  // namespace dgat::test
