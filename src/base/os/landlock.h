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
  long version = 0;      // of the interface; 0 = no Landlock
  bool files = false;    // files: any version of Landlock
  bool network = false;  // TCP: from version 4 (Linux 6.7)
  bool signals = false;  // processes outside: from version 6 (Linux 6.12)
  std::string reason;    // why Landlock is not available at all
};
LandlockSupport landlock_support();
/// Tests only: from now on this process takes the running Linux kernel for one whose Landlock has
/// this version; 0 for one without.
void cap_landlock(long version);

/// A ruleset that allows these files. Open descriptors stay usable. enter_ruleset() applies it to
/// the calling thread and all it starts, permanently; it is async-signal-safe.
Result<UniqueFd> make_ruleset(const Allowed& allowed);
bool enter_ruleset(int ruleset);
/// Called before it: lets the calling process read what Linux says of it in /proc, and name its
/// threads. The CUDA driver does not start without this. Async-signal-safe.
void allow_own_entries(int ruleset);

struct ResourceLimits {
  uint64_t memory_bytes = 0;         // address space; 0 = unchanged
  uint64_t cpu_seconds = 0;          // 0 = unchanged
  uint64_t file_bytes = UINT64_MAX;  // largest file it may write; UINT64_MAX = unchanged
};
/// Lowers the limits as far as the machine allows; limits cannot be raised. Core dumps are
/// disabled.
void limit_resources(const ResourceLimits& limits);

}  // namespace kw::os
