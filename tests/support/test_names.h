#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <string>

namespace dgat::test {

/// A name that GoogleTest takes: "prune-near+add" becomes prune_near_add, "alpha 0.3" alpha_0_3.
inline std::string test_name(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

/// The last argument of INSTANTIATE_TEST_SUITE_P for parameters that are names.
template <class Text>
std::string name_of_parameter(const testing::TestParamInfo<Text>& tested) {
  return test_name(std::string(tested.param));
}

/// alpha_1_gamma_0_3
inline std::string family_name(double alpha, double gamma) {
  return test_name(fmt::format("alpha {} gamma {}", alpha, gamma));
}

}  // namespace dgat::test
