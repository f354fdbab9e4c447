#include "dgat/core/interrupt.h"

#include <csignal>
#include <string>

#include "dgat/core/error.h"

namespace dgat {
namespace {
volatile std::sig_atomic_t requested = 0;

void on_signal(int signal_number) {
  if (requested != 0) {
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);
  }
  requested = 1;
}
}  // namespace

void install_interrupt_handler() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
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
