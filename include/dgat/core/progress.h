#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

/// Progress and notices for the user. Everything here goes to standard error; standard output is
/// for results. Library code reports through this header and never prints by itself.
namespace dgat {

/// Silences notices and progress (--quiet).
void set_quiet(bool quiet);

/// Prints one line ("3 duplicate edges dropped"), prefixed by where it comes from.
/// Equal lines are printed once: splits and studies use the same graph many times.
void notice(std::string_view text);

/// Progress of one long job: a bar on a terminal, otherwise a plain line at intervals. Shows
/// nothing for jobs that end within half a second.
class Progress {
 public:
  /// total 0 means unknown: a count is shown instead of a bar.
  Progress(std::string label, int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The total, once it is known.
  void set_total(int64_t total) { total_ = total; }
  /// The amount done so far, and an optional remark behind the bar ("loss 0.43, val 87.1%").
  void update(int64_t done, std::string_view remark = {});
  /// Removes the bar; called by the destructor.
  void finish();

 private:
  void draw();
  std::string label_, remark_;
  int64_t total_, done_ = 0;
  std::chrono::steady_clock::time_point start_, last_;
  bool shown_ = false, finished_ = false;
};

/// "1h 02m", "3m 05s", "4.2s".
std::string format_duration(double seconds);

}  // namespace dgat
