#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dgat/rewire/rewire.h"
#include "dgat/spectral/cache.h"
#include "dgat/train/config.h"

namespace dgat::train {

/// What a configuration asks of the eigensolver.
spectral::EigenOptions eigen_options(const Config& config);

/// The directions of a graph under a choice: phi of L(alpha, gamma), and the graph rewired along
/// it. Training, prediction and reports share this class, so that they see the same graph.
class Directions {
 public:
  /// Solves, or takes the eigenvectors from the cache. The graph must outlive this object. Notices
  /// report eigenvectors that did not converge, are localised, or belong to a repeated value.
  /// Needs: an undirected graph.
  Directions(const graph::CsrGraph& graph, const Config& config, const GraphChoice& choice,
             spectral::SpectralCache& cache);

  double alpha() const { return alpha_; }
  const spectral::EigenResult& spectrum() const { return *spectrum_; }
  spectral::NodeVectors phi() const { return {phi_, graph_.nodes(), spectrum_->k}; }
  double participation_ratio() const;  ///< of the first vector

  /// The rewiring of the choice with these training labels; never automatic.
  /// Needs: a choice that is not `advised`.
  rewire::Mode mode_under(std::span<const int32_t> training_labels) const;
  /// The graph after a rewiring, made once per mode. It does not depend on labels.
  const graph::CsrGraph& rewired(const rewire::Mode& mode);
  /// What the rewiring did, with the homophily measured by these labels.
  rewire::RewireReport report(const rewire::Mode& mode, std::span<const int32_t> training_labels);

 private:
  const rewire::RewireResult& result(const rewire::Mode& mode);

  const graph::CsrGraph& graph_;
  rewire::Mode mode_;              // as chosen
  rewire::RewireOptions options_;  // of every mode
  double alpha_ = 1;
  std::shared_ptr<const spectral::EigenResult> spectrum_;
  std::vector<double> phi_;
  std::map<std::string, rewire::RewireResult> results_;  // by the mode's name
};

}  // namespace dgat::train
