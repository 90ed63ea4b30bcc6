// A filter of system calls for programs that run text we did not write, beside the walls of
// os/landlock.h: no networks and no way to reach a socket of another program, no namespaces, no other process's memory or
// limits, no owners, modes, times or attributes of files, no shared memory that outlives it. Such calls fail with "not permitted"; the program goes on. Leaving its
// process group seems to succeed and does nothing, so that the group can be ended as a whole.
#pragma once

#include <linux/filter.h>

#include <vector>

namespace kw::os {

/// The filter as the kernel takes it; empty on architectures we have none for.
const std::vector<sock_filter>& call_filter();
/// Gives up every privilege of the superuser, for good: root may read the memory of all processes,
/// whatever other walls there are. Async-signal-safe.
void drop_privileges();
/// From now on the process and all it starts live behind it. Async-signal-safe.
bool enter_call_filter(const std::vector<sock_filter>& filter);
/// Whether this kernel and architecture have such filters.
bool has_call_filter();

}  // namespace kw::os
