// What a child is held by, in the form that spawn() applies between fork and exec. The module
// sandbox fills it in for each kind of process; nothing here decides what a kind may do.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

#include "os/spawn.h"

namespace kw::os {

struct ChildLimits {
  uint64_t address_bytes = 0;        // address space; 0 = unchanged, here and below
  uint64_t data_bytes = 0;           // private memory that can be written
  uint64_t file_bytes = UINT64_MAX;  // the largest file; UINT64_MAX = unchanged
  uint64_t open_files = 0;
  uint64_t frame_bytes = 0;  // the largest frame that we take from it
  // Of the process and all it started, watched by us (os/group_watch.h).
  uint64_t group_bytes = 0;
  int group_processes = 0;
};

/// A filter of system calls whose last details are known only when the process starts.
struct CallFilter {
  std::vector<sock_filter> steps;       // empty: no filter
  std::vector<size_t> own_number;       // these steps compare with the process's own number
  std::vector<size_t> start_addresses;  // six steps, low and high half of the three arguments of
                                        // the only execve() that passes: ours
};

struct Walls {
  UniqueFd files;  // the Landlock ruleset, unless there is none
  CallFilter calls;
  bool drops_privileges = false;
  bool own_session = false;
  ChildLimits limits;
};

/// Permanently gives up every privilege of the superuser. Root could read the memory of all
/// processes despite the other restrictions. Async-signal-safe.
void drop_privileges();
/// Applies the filter to this process and all it starts, permanently. Async-signal-safe.
bool enter_call_filter(const std::vector<sock_filter>& filter);

}  // namespace kw::os
