// Ctrl-C and SIGTERM as a flag, so that work stops at a clean point: children die with us,
// temporary files go. A second Ctrl-C ends the process at once. Not for timeouts.
#pragma once

namespace kw::os {

/// From now on SIGINT, SIGTERM and SIGHUP only set the flag (once; the next one has its default
/// effect).
void install_interrupt_handler();
/// Whether the user asked us to stop. Waiting for a child ends by itself when this becomes true.
bool interrupted();
/// Forgets the request, for servers that outlive one job. The handler is installed again.
void clear_interrupt();
/// Becomes readable when the user asks to stop, for poll(); -1 when no handler is installed.
int interrupt_fd();

}  // namespace kw::os
