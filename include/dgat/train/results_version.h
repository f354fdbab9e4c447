#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace dgat::train {

/// Raised by every change after which the same options, data and seed give other weights on the
/// same processor. Ledger lines and checkpoints carry it. Checkpoints of another version are not
/// used; ledger lines of an earlier one are, where no later version changed their trainings.
/// tests/train/results_version_test.cpp fails when it was not raised.
inline constexpr int64_t kResultsVersion = 3;

/// A version changed the trainings in which `option` differs from its default; "": every training.
struct ResultsChange {
  int64_t version;
  std::string_view option;
};

/// One line for each version and option; scripts/experiments reads these lines. Features made of
/// eigenvectors need no line: they are part of the fingerprint of the data set, so trials on other
/// features have another key.
inline constexpr ResultsChange kResultsChanges[] = {
    {2, ""},              // version 1 is every program from before versions were recorded
    {3, "eigenvectors"},  // several are found with other steps where eigenvalues are small
};

/// The earliest version that gives the results of the present one for these options (key and value
/// of those that differ from their defaults). Those in between give them, too.
inline int64_t first_equal_version(const std::map<std::string, std::string>& options,
                                   std::span<const ResultsChange> changes = kResultsChanges) {
  int64_t version = 1;
  for (const ResultsChange& change : changes) {
    const bool touched = change.option.empty() || options.contains(std::string(change.option));
    if (touched && change.version > version) version = change.version;
  }
  return version;
}

}  // namespace dgat::train
