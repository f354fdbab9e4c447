#pragma once

#include "dgat/graph/csr_graph.h"
#include "dgat/tensor/sparse.h"

/// Constant aggregation matrices of a graph, for models that do not learn their edge weights.
namespace dgat::nn {

/// D^-1/2 A D^-1/2, or with self loops (D+I)^-1/2 (A+I) (D+I)^-1/2. Rows without entries are zero.
template <class T>
tensor::SparseMatrix<T> symmetric_adjacency(const graph::CsrGraph& graph, bool self_loops);

/// D^-1 A: row i averages the neighbours of i; isolated nodes get 0.
template <class T>
tensor::SparseMatrix<T> mean_adjacency(const graph::CsrGraph& graph);

}  // namespace dgat::nn
