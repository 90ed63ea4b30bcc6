// The schedules for row programs: each source returns its rows of the table.
#pragma once

#include "emit/emit.h"

namespace kw::generate {

Schedules row_schedules();         // a block or a few lanes per row
Schedules shared_row_schedules();  // a block per row, which is kept in shared memory
Schedules split_row_schedules();   // several blocks per row
Schedules stack_schedules();       // adjacent rows that are adjacent in memory

inline constexpr ScheduleSource kRowSchedules[] = {row_schedules, shared_row_schedules,
                                                   split_row_schedules, stack_schedules};

}  // namespace kw::generate
