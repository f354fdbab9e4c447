#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace dgat::report {

/// How much of the protocol a candidate of a search goes through at one stage.
struct SearchRung {
  int64_t steps = 0, splits = 0;
};

/// A candidate that finished a rung.
struct SearchEvent {
  double seconds = 0;  ///< training time of the whole search until then
  size_t rung = 0;
  size_t candidate = 0;  ///< numbered by first appearance
  double val = 0;        ///< mean validation metric over the splits of the rung
};

/// The order of a search from its ledger: candidates are trials with equal options and depth, and
/// have finished a rung with their last split of it. A missing file gives nothing; damaged lines
/// are skipped.
std::vector<SearchEvent> search_history(const std::filesystem::path& ledger,
                                        const std::vector<SearchRung>& rungs);

}  // namespace dgat::report
