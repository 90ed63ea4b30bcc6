// Turns Ctrl-C and SIGTERM into a flag, so that work stops at a clean point: children are killed
// and temporary files are removed. A second Ctrl-C ends the process at once. Not for timeouts.
#pragma once

#include "core/result.h"

namespace kw::os {

/// From now on SIGINT, SIGTERM and SIGHUP set the flag, once; the next signal has its default
/// effect. A write beyond the file size limit fails instead of ending the process.
void install_interrupt_handler();
/// Whether the user asked us to stop. Functions that wait for a child return when this becomes
/// true.
bool interrupted();
/// Returns an Error if the user asked us to stop. For work that can stop between its steps.
Status check_interrupted();
/// Clears the request and installs the handler again. For servers that outlive one job.
void clear_interrupt();
/// A descriptor for poll() that becomes readable when the user asks to stop; -1 when not armed.
int interrupt_fd();

// The same without signals, for a library in a program that has its own signal handlers.
/// From now on request_interrupt() wakes every waiting thread.
void arm_interrupt();
/// Asks to stop, as Ctrl-C does.
void request_interrupt();
/// Clears the request. Signal handlers are not changed.
void reset_interrupt();

}  // namespace kw::os
