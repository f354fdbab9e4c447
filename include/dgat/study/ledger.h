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

/// The right to run one trial, until the object ends or its process dies.
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

/// The finished trials of a study: a file of JSON lines, one per trial, only ever appended to.
///
/// A line is written by one call and flushed to disk before add() returns, under a lock of the
/// file, so several threads and several processes may share a ledger, and a process that dies at
/// any moment loses at the most the trials that were running. A line that was cut short is skipped
/// with a notice and the next one begins on a line of its own.
class Ledger {
 public:
  /// In memory only.
  Ledger() = default;
  /// Reads what is there; the file is made with the first trial, its folder now.
  /// Throws: InputError when the file cannot be read or its folder cannot be made.
  explicit Ledger(std::filesystem::path path);

  std::optional<TrialResult> find(const std::string& key) const;
  /// Throws: ComputeError when the line cannot be written (full disk).
  void add(const TrialResult& result);
  /// Reads what other processes have added since.
  void refresh();
  /// Nothing while another process, or another ledger of the same file, has claimed that trial.
  /// Who runs trials claims them first and asks refresh() and find() then. On a file system without
  /// locks every claim is granted, and two processes may train the same.
  std::optional<Claim> claim(const std::string& key) const;
  size_t size() const;
  /// In the order of the keys.
  std::vector<TrialResult> results() const;

 private:
  void read_new_lines(bool at_start);

  std::filesystem::path path_;
  mutable std::mutex mutex_;
  std::map<std::string, TrialResult> results_;
  uint64_t read_ = 0;  ///< bytes of the file that were read
};

/// One line of a ledger, without the line end; parse_line() gives nothing for a damaged one.
std::string to_line(const TrialResult& result);
std::optional<TrialResult> parse_line(const std::string& line);

}  // namespace dgat::study
