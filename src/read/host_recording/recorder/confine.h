// The sandbox of a process that runs foreign code, in addition to os/landlock.h: no process,
// thread, network or other escape by system call, and made-up answers about the machine. It cannot
// be removed.
#pragma once

namespace kw::recorder {

/// Installs the filter; false if this machine has no such filter.
bool confine_calls();
/// From now on a call that names a file is refused, and noted.
bool confine_files();
/// A clock that is not made up, for limits.
double real_seconds();

}  // namespace kw::recorder
