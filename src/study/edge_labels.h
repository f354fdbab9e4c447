#pragma once

#include <span>

#include "dgat/graph/csr_graph.h"
#include "dgat/study/advise.h"

namespace dgat::study {

/// What a rewiring did to the edges between labelled nodes: those in both graphs, only in the old
/// one, only in the new one.
struct EdgeChange {
  EdgeLabels kept, dropped, added;
};

/// Cost: O(N + E + C^2). Label -1 means not labelled.
EdgeChange compare_edges(const graph::CsrGraph& before, const graph::CsrGraph& after,
                         std::span<const int32_t> labels, int classes);

/// Variance of phi between the classes over its variance, on the labelled nodes, corrected for what
/// C random groups would explain (omega squared's idea): (R - c)/(1 - c), c = (C - 1)/(n - 1).
/// 0 when phi does not vary.
double class_share(std::span<const double> phi, std::span<const int32_t> labels, int classes);

}  // namespace dgat::study
