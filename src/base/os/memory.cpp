#include "os/memory.h"

#include <fmt/core.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace kw::os {

namespace {

uint64_t read_number(const char* path) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? value : 0;  // "max" and a missing file both give 0
}

// The number after a key in a file of "key number …" lines, or 0.
uint64_t read_key(const char* path, const std::string& wanted) {
  std::ifstream file(path);
  std::string key, rest;
  uint64_t value = 0;
  while (file >> key >> value) {
    if (key == wanted) return value;
    std::getline(file, rest);
  }
  return 0;
}

struct Group {
  const char *limit, *used, *stat, *cache_key;
};
constexpr Group kGroups[] = {
    {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat",
     "file"},
    {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
     "/sys/fs/cgroup/memory/memory.stat", "total_cache"},
};

// Page cache counts as used, but the Linux kernel frees it before it kills a process.
uint64_t group_available(const Group& group) {
  const uint64_t limit = read_number(group.limit), used = read_number(group.used);
  const uint64_t cache = std::min(used, read_key(group.stat, group.cache_key));
  return limit > used - cache ? limit - (used - cache) : 0;
}

}  // namespace

uint64_t available_memory() {
  uint64_t available = read_key("/proc/meminfo", "MemAvailable:") * 1024;
  for (const Group& group : kGroups) {
    const uint64_t here = group_available(group);
    if (here > 0) available = available == 0 ? here : std::min(available, here);
  }
  return available;
}

std::string why_no_memory(uint64_t bytes) {
  constexpr uint64_t kMega = uint64_t{1} << 20;
  struct Row {
    int which;
    const char* option;
  };
  for (const Row& row : {Row{RLIMIT_AS, "-v"}, Row{RLIMIT_DATA, "-d"}}) {
    struct rlimit limit {};
    if (::getrlimit(row.which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
    if (limit.rlim_cur < bytes)
      return fmt::format("ulimit {} allows {} MiB, and up to {} MiB are needed", row.option,
                         limit.rlim_cur / kMega, bytes / kMega);
  }
  constexpr uint64_t kStrict = 2;  // Linux then refuses what it could not back
  if (read_number("/proc/sys/vm/overcommit_memory") != kStrict) return "";
  const uint64_t limit = read_key("/proc/meminfo", "CommitLimit:") * 1024;
  const uint64_t used = read_key("/proc/meminfo", "Committed_AS:") * 1024;
  const uint64_t left = limit > used ? limit - used : 0;
  if (left >= bytes) return "";
  return fmt::format("vm.overcommit_memory is 2 and leaves {} MiB, and up to {} MiB are needed",
                     left / kMega, bytes / kMega);
}

void return_free_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace kw::os
