// The captive's walls, on top of os/landlock.h: no process, thread, network or other escape by
// system call. There is no way back.
#pragma once

#include <string>

namespace kw::host_recording {

/// What a filter of system calls stands in the way of; "" when this machine has none.
std::string forbid_system_calls();

}  // namespace kw::host_recording
