// Confines a process with Landlock, permanently, as far as the Linux kernel can enforce it. The
// process reads, writes and runs only the given files. It opens no TCP connection and reaches no
// outside process by a signal or an abstract socket. Also sets resource limits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "os/spawn.h"

namespace kw::os {

/// The paths a confined process may still use, each with everything beneath. Missing paths are
/// ignored.
struct Allowed {
  std::vector<std::string> reading;
  std::vector<std::string> running;       // reading, and running as a program
  std::vector<std::string> writing;       // reading, creating, writing, moving, removing
  std::vector<std::string> devices = {};  // the same, and ioctl calls to drivers
};

/// Which of these restrictions the running Linux kernel can enforce.
struct LandlockSupport {
  bool files = false;    // files: any version of Landlock
  bool network = false;  // TCP: from version 4 (Linux 6.7)
  bool signals = false;  // processes outside: from version 6 (Linux 6.12)
  std::string reason;    // why Landlock is not available at all
};
const LandlockSupport& landlock_support();
/// What a confined process can still do because a restriction is missing, one clause each. Empty
/// when no restriction is missing.
std::vector<std::string> missing_limits();

struct Confinement {
  bool active = false;
  std::string reason;  // why it is not active
};

/// Restricts the calling thread, and all it starts, to these files and to what os/call_filter.h
/// lets pass. Open descriptors stay usable.
Confinement confine(const Allowed& allowed);

/// The two halves of confine(), for a process that forks in between. enter_ruleset() is
/// async-signal-safe.
Result<UniqueFd> make_ruleset(const Allowed& allowed);
bool enter_ruleset(int ruleset);
/// Called between the two: lets the calling process name its threads. The CUDA driver does not
/// start without this. Async-signal-safe.
void allow_own_threads(int ruleset);

struct ResourceLimits {
  uint64_t memory_bytes = 0;         // address space; 0 = unchanged
  uint64_t cpu_seconds = 0;          // 0 = unchanged
  uint64_t file_bytes = UINT64_MAX;  // largest file it may write; UINT64_MAX = unchanged
};
/// Lowers the limits as far as the machine allows; limits cannot be raised. Core dumps are
/// disabled.
void limit_resources(const ResourceLimits& limits);

}  // namespace kw::os
