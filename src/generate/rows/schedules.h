// The schedules for row programs: each source gives its rows.
#pragma once

#include "emit/emit.h"

namespace kw::generate {

Schedules row_schedules();         // a block or a few lanes per row
Schedules shared_row_schedules();  // a block per row, which is kept in shared memory
Schedules split_row_schedules();   // several blocks per row
Schedules stack_schedules();       // neighbouring rows that lie side by side in memory

}  // namespace kw::generate
