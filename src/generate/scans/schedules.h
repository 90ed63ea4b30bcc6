// The schedules for operations along one dim: each source gives its rows.
#pragma once

#include "emit/emit.h"

namespace kw::generate {

Schedules scan_schedules();          // a group of threads scans a row
Schedules scan_columns_schedules();  // a stack of threads scans a few neighbouring rows
Schedules arg_schedules();           // the best of a row and its place
Schedules column_schedules();        // reductions and arg reductions over leading or middle dims
Schedules top_k_schedules();         // the best few of a row, in a warp's registers
Schedules sort_schedules();          // whole rows

}  // namespace kw::generate
