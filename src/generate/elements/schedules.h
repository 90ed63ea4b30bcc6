// The schedules for elements that are computed one by one, or moved: each source returns its rows
// of the table.
#pragma once

#include "emit/emit.h"

namespace kw::generate {

Schedules taps_schedules();       // windows with few elements, unrolled
Schedules transpose_schedules();  // tiles transposed in shared memory
Schedules gather_schedules();     // rows picked from tables
Schedules pointwise_schedules();  // one thread per few elements
Schedules scatter_schedules();    // a thread per source element, then one per result
Schedules generic_schedules();    // one thread per element, loops for the rest

inline constexpr ScheduleSource kElementSchedules[] = {taps_schedules,    transpose_schedules,
                                                       gather_schedules,  pointwise_schedules,
                                                       scatter_schedules, generic_schedules};

}  // namespace kw::generate
