// Linux limits the memory of one process, not of a process and its children, unless the user may
// make control groups, which users of containers and of shared machines may not. So we add up
// /proc. Reading all of /proc takes milliseconds, so the pauses grow with what it took: at most two
// hundredths of a core. A process can allocate some gigabytes between two looks; the limits leave
// room for that.
#include "os/group_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "core/text.h"
#include "os/spawn.h"
#include "os/walls.h"

namespace kw::os {
namespace {

constexpr double kShortest = 0.1, kShare = 50;

struct Use {
  int processes = 0;
  uint64_t bytes = 0;
};

/// Adds one process when it is of the group: field 5 of its stat is the group, field 24 its pages.
void add_process(const std::string& name, pid_t group, Use* use) {
  const UniqueFd fd(::open(("/proc/" + name + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  char text[1024];
  const ssize_t n = fd ? ::read(fd.get(), text, sizeof(text) - 1) : -1;
  if (n <= 0) return;
  text[n] = '\0';
  const std::string_view all(text, static_cast<size_t>(n));
  const size_t name_ends = all.rfind(')');  // the program's name can hold anything
  if (name_ends == std::string_view::npos) return;
  int pgrp = 0;
  long pages = 0;
  const int read = std::sscanf(text + name_ends + 1,
                               " %*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
                               "%*d %*d %*d %*u %*u %ld",
                               &pgrp, &pages);
  if (read != 2 || pgrp != group) return;
  ++use->processes;
  use->bytes +=
      static_cast<uint64_t>(std::max(0L, pages)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

Use use_of(pid_t group, bool alone) {
  Use use;
  if (alone) {
    add_process(std::to_string(group), group, &use);
    return use;
  }
  DIR* const all = ::opendir("/proc");
  if (all == nullptr) return use;
  while (const dirent* one = ::readdir(all)) {
    if (std::isdigit(static_cast<unsigned char>(one->d_name[0])) != 0)
      add_process(one->d_name, group, &use);
  }
  ::closedir(all);
  return use;
}

}  // namespace

GroupWatch::GroupWatch(pid_t leader, const Walls* walls) {
  if (walls == nullptr) return;
  most_bytes_ = walls->limits.group_bytes;
  most_processes_ = walls->limits.group_processes;
  if (most_bytes_ == 0 && most_processes_ == 0) return;
  leader_ = leader;
  interval_ = kShortest;
  next_ = monotonic_seconds() + interval_;
}

double GroupWatch::pause_seconds() const { return leader_ < 0 ? 1e6 : interval_; }

bool GroupWatch::within_limits() {
  if (leader_ < 0) return true;
  const double start = monotonic_seconds();
  if (start < next_) return said_.empty();
  const Use use = use_of(leader_, most_processes_ == 1);
  const double now = monotonic_seconds();
  interval_ = std::max(kShortest, (now - start) * kShare);
  next_ = now + interval_;
  if (most_processes_ > 0 && use.processes > most_processes_)
    said_ = fmt::format("\n[ended: it started more than {} processes]\n", most_processes_);
  else if (most_bytes_ > 0 && use.bytes > most_bytes_)
    said_ = fmt::format("\n[ended: its processes used more than {} of memory]\n",
                        human_bytes(most_bytes_));
  return said_.empty();
}

}  // namespace kw::os
