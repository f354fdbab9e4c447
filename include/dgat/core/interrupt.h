#pragma once

/// Ctrl-C, SIGTERM and the end of the terminal (SIGHUP) as a flag. The command line installs the
/// handler; long loops ask between steps, save what they have and stop. A second signal ends the
/// process at once. SIGPIPE is ignored: a closed pipe fails the write and nothing else.
namespace dgat {

void install_interrupt_handler();
bool interrupt_requested();
/// For tests and embedding programs.
void request_interrupt(bool requested = true);
/// Throws Interrupted("where: stopped by the user") when a stop was requested.
void throw_if_interrupted(const char* where);

}  // namespace dgat
