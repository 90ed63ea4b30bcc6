// A row of the table of schedules: one way to compute a region by one kernel. Each module lists its
// rows; plan/schedule.cpp orders them.
#pragma once

#include <vector>

#include "emit/builder.h"
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

/// What every class that emits a schedule has: the region, the target and the kernel's frame.
class ScheduleFrame {
 protected:
  ScheduleFrame(const Region& region, const TargetContext& context)
      : region_(region), context_(context), kernel_(region, context) {}

  /// The name of a tunable or a let in this region.
  std::string name(const char* text) const { return kernel_.name(text); }

  const Region& region_;
  const TargetContext& context_;
  KernelBuilder kernel_;
};

/// Emits by `S`, a class that is made from a region, its context and `kMore`.
template <class S, auto... kMore>
Kernel emit_by(const Region& region, const TargetContext& context) {
  return S(region, context, kMore...).emit();
}

using Schedules = std::vector<Schedule>;
/// Returns the rows of one source. Each module lists its sources in its schedules.h.
using ScheduleSource = Schedules (*)();

}  // namespace kw::generate
