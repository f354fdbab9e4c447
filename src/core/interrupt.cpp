#include "dgat/core/interrupt.h"

#include <atomic>
#include <csignal>
#include <string>

#include "dgat/core/error.h"

namespace dgat {
namespace {
// Written by a signal handler and read by every thread: both allow an atomic without a lock.
std::atomic<int> requested = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void on_signal(int signal_number) {
  if (requested != 0) {
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);
  }
  requested = 1;
}
}  // namespace

void install_interrupt_handler() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    // nohup sets SIGHUP to be ignored, and a shell without job control SIGINT: that stays.
    if (std::signal(number, on_signal) == SIG_IGN) std::signal(number, SIG_IGN);
  }
  // A reader of our output that ends (`dgat ... | head`) is an error of writing, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
}

bool interrupt_requested() {
  return requested != 0;
}
void request_interrupt(bool value) {
  requested = value ? 1 : 0;
}

void throw_if_interrupted(const char* where) {
  if (requested != 0) throw Interrupted(std::string(where) + ": stopped by the user");
}

}  // namespace dgat
