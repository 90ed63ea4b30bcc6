// A row of the table of schedules: one way to compute a region by one kernel. Modules list their
// rows; plan/schedule.cpp puts them in order.
#pragma once

#include <vector>

#include "emit/kernel.h"
#include "emit/target_context.h"

namespace kw::generate {

struct Schedule {
  const char* name;
  const char* what;  // one line, for people
  bool (*applies)(const Region&, const TargetContext&);
  Kernel (*emit)(const Region&, const TargetContext&);
  /// Where it is likely to be the best; such rows come first. nullptr: nowhere in particular.
  bool (*prefers)(const Region&, const TargetContext&) = nullptr;
  bool fuses = true;  // whether regions may be joined because this row applies
};

using Schedules = std::vector<Schedule>;

}  // namespace kw::generate
