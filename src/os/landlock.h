// Confining the current process, for workers that handle text nobody has vetted: read-only access
// beneath given folders (Landlock) and resource limits. There is no way back. Not a sandbox for
// running foreign code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "os/spawn.h"

namespace kw::os {

/// What a confined process may still do, each with everything beneath. Paths that do not exist are
/// left out.
struct Allowed {
  std::vector<std::string> reading;
  std::vector<std::string> running;       // reading, and starting as a program
  std::vector<std::string> writing;       // reading, creating, writing, moving, removing
  std::vector<std::string> devices = {};  // the same, and what drivers are asked by ioctl
};

struct Confinement {
  bool active = false;
  std::string reason;  // why not, when it is not
};

/// From now on the calling thread, and all it starts, may touch only these files. Descriptors
/// already open stay usable.
Confinement confine(const Allowed& allowed);

/// The two halves of confine(), for a process that forks in between: the second is
/// async-signal-safe.
Result<UniqueFd> make_ruleset(const Allowed& allowed);
bool enter_ruleset(int ruleset);

struct ResourceLimits {
  uint64_t memory_bytes = 0;         // address space; 0 = leave
  uint64_t cpu_seconds = 0;          // 0 = leave
  uint64_t file_bytes = UINT64_MAX;  // size of a file it may write; UINT64_MAX = leave
};
/// Sets the limits as far as the machine lets us; they can only be lowered. Core dumps are switched
/// off.
void limit_resources(const ResourceLimits& limits);

}  // namespace kw::os
