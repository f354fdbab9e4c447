#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/run_dgat.h"

namespace dgat::test {

/// What `dgat arguments... --json` prints; a test failure when it does not succeed.
inline nlohmann::json dgat_json(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const RunResult run = run_dgat(arguments);
  EXPECT_EQ(run.exit, 0) << run.err;
  return nlohmann::json::parse(run.out);
}

}  // namespace dgat::test
