#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dgat/data/dataset.h"
#include "dgat/report/page.h"
#include "dgat/spectral/cache.h"
#include "dgat/train/config.h"

namespace dgat::report {

/// A larger graph is sampled, because the page contains the vectors of every gamma.
struct ExplorerLimits {
  int64_t nodes = 200'000, edges = 2'000'000;             ///< counted whole up to these
  int64_t sample_nodes = 20'000, sample_edges = 100'000;  ///< else a neighbourhood of this size
};

struct ExplorerOptions {
  int64_t split = 0;  ///< whose training labels the page shows; no other label is in it
  /// Time for eigenvectors. When the next gamma is likely to exceed it, the page has fewer, and
  /// says so. The starting gamma is always solved.
  double budget_seconds = 60;
  bool advise = true;  ///< add the advice, where the data set allows one (study/advise.h)
  /// What the command at the end of the page starts with: "dgat train graph.npz --model dgat".
  std::string command = {};
  ExplorerLimits limits = {};
  /// The graph that the page shows first; empty: that of the configuration.
  std::optional<train::GraphChoice> start = std::nullopt;
};

/// The 21 gammas of the page, increasing; `start` replaces its neighbour if it is none of them.
std::vector<double> explorer_gammas(double start);

/// The data of the explorer and its starting point. From it the page reproduces rewire::rewire()
/// bit by bit: it gets the vectors at alpha = 1/2 in full and does every other step itself in the
/// same order. The exception is pow(m, 1/2 - alpha), whose last bit depends on the library: for
/// every alpha of the grid the page gets the last 8 bits of each power and computes the other bits
/// itself.
///
/// Needs:  an undirected graph.
/// Cost:   two eigensolves per gamma (the second for positions, quantised), unless the cache has
///         them, two more on a graph of several components; the advice.
/// Throws: InputError for a directed graph or a split that is not there, Interrupted on Ctrl-C.
Explorer make_explorer(const data::Dataset& dataset, const graph::CsrGraph& graph,
                       const train::Config& config, const ExplorerOptions& options,
                       spectral::SpectralCache& cache);

/// The page of `dgat explore`: the explorer alone.
/// Throws: as make_explorer(), and InputError for a model without directions.
Page explorer_page(const data::Dataset& dataset, const train::Config& config,
                   const ExplorerOptions& options, spectral::SpectralCache& cache);

}  // namespace dgat::report
