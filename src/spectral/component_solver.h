#pragma once

#include <span>
#include <vector>

#include "dgat/graph/csr_graph.h"
#include "dgat/spectral/eigensolver.h"

namespace dgat::spectral {

struct ComponentSolution {
  ComponentSpectrum spectrum;
  std::vector<double> vectors;  ///< unit eigenvectors of S, one after the other
};

/// The smallest positive eigenpairs of one connected graph of two or more nodes. `original` names
/// its nodes in the whole graph: start vectors and canonical choices are functions of these names.
ComponentSolution solve_component(const graph::CsrGraph& graph,
                                  std::span<const graph::NodeId> original,
                                  const EigenOptions& options);

}  // namespace dgat::spectral
