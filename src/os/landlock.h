// Confining the current process, for workers that handle text nobody has vetted: read-only access
// beneath given folders (Landlock) and resource limits. There is no way back. Not a sandbox for
// running foreign code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kw::os {

struct Confinement {
  bool active = false;
  std::string reason;  // why not, when it is not
};

/// From now on the calling thread, and all it starts, may only read, and only beneath the given
/// files and folders; beneath the writable folders it may also create, write and remove. Paths that
/// do not exist are left out. Descriptors already open stay usable.
Confinement confine_to_reading(const std::vector<std::string>& paths,
                               const std::vector<std::string>& writable = {});

struct ResourceLimits {
  uint64_t memory_bytes = 0;         // address space; 0 = leave
  uint64_t cpu_seconds = 0;          // 0 = leave
  uint64_t file_bytes = UINT64_MAX;  // size of a file it may write; UINT64_MAX = leave
};
/// Sets the limits as far as the machine lets us; they can only be lowered. Core dumps are switched
/// off.
void limit_resources(const ResourceLimits& limits);

}  // namespace kw::os
