#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dgat/study/trial.h"

namespace dgat::study {

/// A lock on one trial, held until the object is destroyed or its process ends.
class Claim {
 public:
  explicit Claim(int file = -1) : file_(file) {}
  ~Claim();
  Claim(Claim&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Claim& operator=(Claim&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }

 private:
  int file_;  ///< carries the lock; below 0: none was needed
};

/// The finished trials of a study: a file of JSON lines, one per trial. Lines are only appended.
///
/// add() writes a line by one call, under a lock of the file, and flushes it to disk. So several
/// threads and several processes may share a ledger. A process that is killed loses at most the
/// trials that were running. A line that was cut short is skipped with a notice and the next one
/// begins on a line of its own. Lines of an earlier results version are used where no later version
/// changed their trainings (train/results_version.h). The others stay in the file and are not used;
/// a notice says how many there are.
class Ledger {
 public:
  /// In memory only.
  Ledger() = default;
  /// Reads what is there; the file is made with the first trial, its folder now.
  /// Throws: InputError when the file cannot be read or its folder cannot be made.
  explicit Ledger(std::filesystem::path path);

  std::optional<TrialResult> find(const std::string& key) const;
  /// The key under which the ledger has a trial, of the present results version or of an earlier
  /// one with the same results; without a line trial_key(trial).
  std::string key_of(const Trial& trial) const;
  /// Throws: ComputeError when the line cannot be written (full disk).
  void add(const TrialResult& result);
  /// Reads what other processes have added since.
  void refresh();
  /// Nothing while another process, or another ledger of the same file, has claimed that trial.
  /// Claim a trial before running it, then call refresh() and find(). On a file system without
  /// locks every claim is granted, and two processes may train the same.
  std::optional<Claim> claim(const std::string& key) const;
  size_t size() const;
  /// Lines that are not used, because the present program has other results.
  size_t old_lines() const;
  /// In the order of the keys.
  std::vector<TrialResult> results() const;

 private:
  void read_new_lines(bool at_start);

  std::filesystem::path path_;
  mutable std::mutex mutex_;
  std::map<std::string, TrialResult> results_;
  size_t old_lines_ = 0;
  uint64_t read_ = 0;  ///< bytes of the file that were read
};

/// One line of a ledger, without the line end; parse_line() gives nothing for a damaged one.
std::string to_line(const TrialResult& result);
std::optional<TrialResult> parse_line(const std::string& line);

}  // namespace dgat::study
