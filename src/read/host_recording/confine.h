// The sandbox of a worker that runs foreign code, in addition to os/landlock.h: no process, thread,
// network or other escape by system call. It cannot be removed.
#pragma once

#include <string>

namespace kw::host_recording {

/// Installs the filter and returns a list of what it forbids; "" if this machine has no such
/// filter.
std::string forbid_system_calls();

}  // namespace kw::host_recording
