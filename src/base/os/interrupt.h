// Ctrl-C and SIGTERM as a flag, so that work stops at a clean point: children die with us,
// temporary files go. A second Ctrl-C ends the process at once. Not for timeouts.
#pragma once

#include "core/result.h"

namespace kw::os {

/// From now on SIGINT, SIGTERM and SIGHUP only set the flag (once; the next one has its default
/// effect). A file that may not grow fails its write instead of ending the process.
void install_interrupt_handler();
/// Whether the user asked us to stop. Waiting for a child ends by itself when this becomes true.
bool interrupted();
/// An Error if so: for work that stops between its steps.
Status check_interrupted();
/// Forgets the request, for servers that outlive one job. The handler is installed again.
void clear_interrupt();
/// Becomes readable when the user asks to stop, for poll(); -1 when nobody can ask.
int interrupt_fd();

// The same without signals, for a library in a program that has handlers of its own.
/// From now on request_interrupt() wakes whoever waits.
void arm_interrupt();
/// Asks to stop, as Ctrl-C would.
void request_interrupt();
/// Forgets the request; handlers stay as they are.
void reset_interrupt();

}  // namespace kw::os
