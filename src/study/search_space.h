#pragma once

#include <set>

#include "dgat/study/tune.h"

namespace dgat::study {

/// Everything that a search chooses from.
struct SearchSpace {
  std::vector<train::Settings> graphs;  ///< distinct; one empty entry without directions
  std::vector<int64_t> advice_rank;     ///< of every graph, from 1; 0 without advice
  int64_t repeated = 0;
  std::map<std::string, std::vector<std::string>> rates;  ///< depth, rates, the model's own options
  train::Config base;                                     ///< the settings, at a middle depth
  train::Settings start;  ///< rates of the first candidate, where base is not among the searched
  /// Learning rates in an order in which any first few span the range; empty: not searched.
  std::vector<std::string> learning_rates;
};

/// Throws: InputError for a key of options.search that is no option or is not searched, or a value
///         that the option refuses.
SearchSpace make_space(const data::Dataset& dataset, const TuneOptions& options,
                       spectral::SpectralCache& cache);

/// The options of a candidate; without gamma and alpha for the random-walk Laplacian, which has
/// neither.
train::Settings graph_settings(const Candidate& candidate, const train::Config& base);

}  // namespace dgat::study
