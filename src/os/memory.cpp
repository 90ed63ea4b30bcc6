#include "os/memory.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace kw::os {

namespace {

uint64_t read_number(const char* path) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? value : 0;  // "max" and a missing file both read as 0
}

uint64_t machine_available() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  uint64_t kib = 0;
  while (file >> key >> kib) {
    if (key == "MemAvailable:") return kib * 1024;
    std::getline(file, unit);
  }
  return 0;
}

// Page cache counts as used here, but the kernel gives it back before it kills.
uint64_t group_available(const char* limit_path, const char* used_path) {
  const uint64_t limit = read_number(limit_path), used = read_number(used_path);
  return limit > used ? limit - used : 0;
}

}  // namespace

uint64_t available_memory() {
  uint64_t available = machine_available();
  for (const uint64_t group :
       {group_available("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        group_available("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes")}) {
    if (group > 0) available = available == 0 ? group : std::min(available, group);
  }
  return available;
}

}  // namespace kw::os
