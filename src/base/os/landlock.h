// Confining a process (Landlock): it reads, writes and runs only what it is given, opens no TCP
// connection, and reaches no process outside by a signal or an abstract socket, as far as the
// kernel can enforce each. There is no way back. Also resource limits.
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

/// Which of these walls the running kernel can put up.
struct Walls {
  bool files = false;    // Landlock itself
  bool network = false;  // TCP: from its fourth version on (Linux 6.7)
  bool signals = false;  // processes outside: from the sixth (Linux 6.12)
  std::string reason;    // why there are no walls at all
};
const Walls& available_walls();
/// What a confined process can still do because a wall is missing, one clause each; empty: nothing.
std::vector<std::string> missing_walls();

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
/// In between: the calling process may name its threads, without which CUDA's driver does not
/// start. Async-signal-safe.
void allow_own_threads(int ruleset);

struct ResourceLimits {
  uint64_t memory_bytes = 0;         // address space; 0 = leave
  uint64_t cpu_seconds = 0;          // 0 = leave
  uint64_t file_bytes = UINT64_MAX;  // size of a file it may write; UINT64_MAX = leave
};
/// Sets the limits as far as the machine lets us; they can only be lowered. Core dumps are switched
/// off.
void limit_resources(const ResourceLimits& limits);

}  // namespace kw::os
