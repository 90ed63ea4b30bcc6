// A row of the table of schedules: one way to compute a region by one kernel. Each module lists its
// rows; plan/schedule.cpp orders them.
#pragma once

#include <vector>

#include "emit/kernel.h"
#include "emit/target_context.h"

namespace kw::generate {

struct Schedule {
  const char* name;
  const char* what;  // one line, for users
  bool (*applies)(const Region&, const TargetContext&);
  Kernel (*emit)(const Region&, const TargetContext&);
  /// Whether it is likely to be the best one; such rows come first. nullptr: never.
  bool (*prefers)(const Region&, const TargetContext&) = nullptr;
  bool fuses = true;  // whether regions may be joined because it applies
};

using Schedules = std::vector<Schedule>;
/// Returns the rows of one source. Each module lists its sources in its schedules.h.
using ScheduleSource = Schedules (*)();

}  // namespace kw::generate
