// A filter of system calls for programs that run text we did not write; it complements
// os/landlock.h. It refuses networks, sockets of other programs, namespaces, and the memory and
// limits of other processes. It refuses changes of owner, mode, times or attributes of files, and
// shared memory that outlives the process. A refused call fails with EPERM and the program
// continues. A call that leaves the process group returns success and does nothing, so that the
// whole group can be killed.
#pragma once

#include <linux/filter.h>

#include <vector>

namespace kw::os {

/// The filter in the form the Linux kernel takes; empty on architectures without one.
const std::vector<sock_filter>& call_filter();
/// Permanently gives up every privilege of the superuser. Root could read the memory of all
/// processes despite the other restrictions. Async-signal-safe.
void drop_privileges();
/// Applies the filter to this process and all it starts, permanently. Async-signal-safe.
bool enter_call_filter(const std::vector<sock_filter>& filter);
/// Whether this Linux kernel and architecture support such filters.
bool has_call_filter();

}  // namespace kw::os
