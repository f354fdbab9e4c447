#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "dgat/graph/csr_graph.h"
#include "dgat/spectral/eigensolver.h"

namespace dgat::spectral {

/// 128 bits of the graph's rows: equal graphs have equal hashes on every machine.
using GraphHash = std::array<uint64_t, 2>;
GraphHash hash_graph(const graph::CsrGraph& graph);

/// Solves once per (graph, gamma, k, policy, solver, tolerances, seed). The result serves every
/// alpha and every rewiring, from memory or from a file of an earlier process.
///
/// Files hold eigenpairs and their figures with a checksum and appear whole or not at all, so
/// several processes may share a folder. Only the user may read the folder and its files. A file
/// is checked: its lengths, components and masses are compared with the graph, and the residuals
/// of its vectors are computed again, O((N + E) k). If they do not fit, the graph is solved again,
/// with a notice. An unwritable folder causes a notice, not an error. Results that did not
/// converge are not stored. Calls from several threads are safe; equal requests wait for the
/// first.
class SpectralCache {
 public:
  /// In memory only.
  SpectralCache() = default;
  /// In memory and on disk; the folder is made when the first file is written.
  explicit SpectralCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::shared_ptr<const EigenResult> solve(const graph::CsrGraph& graph,
                                           const EigenOptions& options = {});

 private:
  struct Entry {
    std::mutex mutex;
    std::shared_ptr<const EigenResult> result;
  };
  std::filesystem::path folder_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;
};

/// Where processes share their solves: cache_dir()/spectral (dgat/core/cache_dir.h).
std::filesystem::path default_cache_folder();

}  // namespace dgat::spectral
