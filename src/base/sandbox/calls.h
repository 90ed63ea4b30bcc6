// The system calls that each kind of process may make, as a filter for the Linux kernel (seccomp).
// A list of what is allowed: a call that it does not name is refused with EPERM, so that libraries
// can continue without it. Refused are networks, sockets of other programs, namespaces, other
// processes and their limits, and changes of owner, mode, times or attributes of files. A call that
// leaves the session or group returns success and does nothing, so that the whole group can be
// killed.
#pragma once

#include "os/walls.h"
#include "sandbox/kinds.h"

namespace kw::sandbox {

/// Whether signals already reach no outside process, by Landlock. Otherwise the filter allows them
/// to the process itself only.
enum class Signals : uint8_t { Scoped, OwnOnly };

/// The filter for a kind; no steps on architectures for which there is no list.
os::CallFilter call_filter(unsigned calls, Signals signals);
/// Whether this Linux kernel and architecture support such filters.
bool has_call_filter();

}  // namespace kw::sandbox
