#include "dgat/core/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include "dgat/core/output.h"
#include "dgat/core/quiet_notices.h"

namespace dgat {
namespace {

std::atomic<bool> quiet{false};
thread_local int quiet_scopes = 0;
std::atomic<Output*> redirected{nullptr};
std::mutex output_mutex;
Progress* bar_on_screen = nullptr;  // guarded by output_mutex: notices clear its line first

bool on_terminal() {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  return terminal;
}

int terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) return size.ws_col;
  return 80;
}

void clear_line() {
  std::fputs("\r\x1b[2K", stderr);
}

constexpr double kFirstShown = 0.5;        // seconds before a job is shown
constexpr double kTerminalInterval = 0.1;  // seconds between redraws
constexpr double kPlainInterval = 10.0;    // seconds between lines in a log file

double seconds_between(std::chrono::steady_clock::time_point a,
                       std::chrono::steady_clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

}  // namespace

void set_quiet(bool value) {
  quiet = value;
}

void redirect_output(Output* output) {
  redirected = output;
}

void notice(std::string_view text) {
  if (quiet || quiet_scopes > 0) return;
  if (Output* const output = redirected) return output->notice(text);
  const std::lock_guard lock(output_mutex);
  static std::set<std::string, std::less<>> said;
  if (!said.emplace(text).second) return;
  if (bar_on_screen != nullptr && on_terminal()) clear_line();
  std::fputs(fmt::format("{}\n", text).c_str(), stderr);  // a full disk must not end the work
}

QuietNotices::QuietNotices() {
  ++quiet_scopes;
}
QuietNotices::~QuietNotices() {
  --quiet_scopes;
}

std::string format_duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f}s", seconds);
  const auto total = static_cast<int64_t>(std::llround(seconds));
  if (total < 3600) return fmt::format("{}m {:02}s", total / 60, total % 60);
  return fmt::format("{}h {:02}m", total / 3600, total / 60 % 60);
}

Progress::Progress(std::string label, int64_t total)
    : label_(std::move(label)),
      total_(total),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

Progress::~Progress() {
  finish();
}

void Progress::update(int64_t done, std::string_view remark) {
  done_ = done;
  if (quiet || finished_) return;
  if (Output* const output = redirected) {
    return output->progress(this, label_, done_, total_, remark);
  }
  const auto now = std::chrono::steady_clock::now();
  const double since = seconds_between(shown_ ? last_ : start_, now);
  const double wait = shown_ ? (on_terminal() ? kTerminalInterval : kPlainInterval)
                             : (on_terminal() ? kFirstShown : kPlainInterval);
  if (since < wait) return;
  last_ = now;
  remark_ = remark;
  draw();
}

void Progress::draw() {
  const double elapsed = seconds_between(start_, last_);
  std::string line = label_;
  if (total_ > 0) {
    const double share =
        std::clamp(static_cast<double>(done_) / static_cast<double>(total_), 0.0, 1.0);
    if (on_terminal()) {
      constexpr int kWidth = 24;
      const int full = static_cast<int>(share * kWidth);
      line += fmt::format(" [{}{}]", std::string(static_cast<size_t>(full), '#'),
                          std::string(static_cast<size_t>(kWidth - full), '.'));
    }
    line += fmt::format(" {}/{}", done_, total_);
    if (share > 0) line += fmt::format(", {} left", format_duration(elapsed * (1 - share) / share));
  } else {
    line += fmt::format(" {}, {}", done_, format_duration(elapsed));
  }
  if (!remark_.empty()) line += "  " + remark_;
  const std::lock_guard lock(output_mutex);
  if (on_terminal()) {
    if (static_cast<int>(line.size()) >= terminal_width())
      line.resize(static_cast<size_t>(terminal_width() - 1));
    clear_line();
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
    bar_on_screen = this;
  } else {
    std::fputs((line + "\n").c_str(), stderr);
  }
  shown_ = true;
}

void Progress::finish() {
  if (finished_) return;
  finished_ = true;
  if (Output* const output = redirected) return output->finished(this);
  const std::lock_guard lock(output_mutex);
  if (bar_on_screen == this) {
    clear_line();
    std::fflush(stderr);
    bar_on_screen = nullptr;
  }
}

}  // namespace dgat
