#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <tuple>

#include "dgat/spectral/eigensolver.h"
#include "support/test_names.h"

namespace dgat::spectral {

/// GoogleTest prints a solver by its name.
inline void PrintTo(Solver solver, std::ostream* out) {
  *out << to_string(solver);
}

/// multigrid_gamma_0_3
inline std::string solver_name(const testing::TestParamInfo<std::tuple<Solver, double>>& tested) {
  const auto [solver, gamma] = tested.param;
  return dgat::test::test_name(fmt::format("{} gamma {}", to_string(solver), gamma));
}

}  // namespace dgat::spectral
