#include "os/memory.h"

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

}  // namespace kw::os
