// Watches what a process and all it started use, where the kernel has no limit for them together:
// memory of several processes, and their number. Called from the loops that wait for a child.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace kw::os {

struct Walls;

class GroupWatch {
 public:
  GroupWatch() = default;
  GroupWatch(pid_t leader, const Walls* walls);

  /// False from the moment the process group uses too much. The caller then ends it.
  bool within_limits();
  /// How long the caller may sleep before it asks again.
  double pause_seconds() const;
  /// What was too much, as a line; "" while nothing was.
  const std::string& said() const { return said_; }

 private:
  pid_t leader_ = -1;
  uint64_t most_bytes_ = 0;
  int most_processes_ = 0;
  double next_ = 0, interval_ = 0;
  std::string said_;
};

}  // namespace kw::os
