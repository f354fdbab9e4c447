// 02_fiedler.cpp: the first eigenvalue of L(1,0.3) on rings, from closed form and from the solver.
// Run:     build/release/bin/02_fiedler
// Prints:
//   ring of 16:    lambda_1 = 0.035133, closed form 0.035133, multiplicity 2, converged
//   ring of 64:    lambda_1 = 0.0022224, closed form 0.0022224, multiplicity 2, converged
//   ring of 4096:  lambda_1 = 5.4302e-07, closed form 5.4302e-07, multiplicity 2, converged
#include <fmt/core.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "dgat/graph/builder.h"
#include "dgat/spectral/eigensolver.h"

int main() {
  constexpr double kGamma = 0.3;
  for (const int nodes : {16, 64, 4096}) {
    std::vector<dgat::graph::Edge> edges;
    for (int i = 0; i < nodes; ++i) edges.push_back({i, (i + 1) % nodes});
    const auto graph = dgat::graph::build_graph(nodes, edges).graph;

    // Every degree is 2, so M = 1 + gamma, and the eigenvectors are waves around the ring. Sine
    // and cosine have the same eigenvalue: the solver finds that and makes a fixed choice.
    const double closed_form =
        2 * kGamma / (1 + kGamma) * (1 - std::cos(2 * std::numbers::pi / nodes));
    const auto result = dgat::spectral::solve_spectrum(graph, {.gamma = kGamma});
    fmt::print("{:14} lambda_1 = {:.5g}, closed form {:.5g}, multiplicity {}, {}\n",
               fmt::format("ring of {}:", nodes), result.eigenvalues[0], closed_form,
               result.multiplicity[0], result.converged ? "converged" : "not converged");
  }
}
