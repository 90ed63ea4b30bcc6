// The schedules for operations along one dim: each source returns its rows of the table.
#pragma once

#include "emit/emit.h"

namespace kw::generate {

Schedules scan_schedules();          // a group of threads scans a row
Schedules scan_columns_schedules();  // layers of threads scan a few adjacent rows
Schedules arg_schedules();           // the best of a row and its position
Schedules column_schedules();        // reductions and arg reductions over leading or middle dims
Schedules top_k_schedules();         // the k best of a row, in a warp's registers
Schedules sort_schedules();          // whole rows

inline constexpr ScheduleSource kScanSchedules[] = {scan_schedules,  scan_columns_schedules,
                                                    arg_schedules,   column_schedules,
                                                    top_k_schedules, sort_schedules};

}  // namespace kw::generate
