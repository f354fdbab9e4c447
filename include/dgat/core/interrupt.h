#pragma once

/// Ctrl-C as data. The command line installs the handler; long loops ask between steps, save what
/// they have and stop. A second Ctrl-C ends the process at once.
namespace dgat {

void install_interrupt_handler();
bool interrupt_requested();
/// For tests and embedding programs.
void request_interrupt(bool requested = true);
/// Throws Interrupted("where: stopped by the user") when a stop was asked for.
void throw_if_interrupted(const char* where);

}  // namespace dgat
