// The functions behind the schedule table's rows for kernels that mostly move data.
#pragma once

#include "codegen/schedule.h"

namespace kw::codegen {

// transpose.cpp: tiles turned in shared memory
bool transpose_applies(const Region& region, const Situation& situation);
Kernel transpose_emit(const Region& region, const Situation& situation);
// scatter.cpp: a thread per source element, then one per result
bool scatter_applies(const Region& region, const Situation& situation);
Kernel scatter_emit(const Region& region, const Situation& situation);
// gather_rows.cpp: rows picked from tables
bool gather_rows_applies(const Region& region, const Situation& situation);
Kernel gather_rows_emit(const Region& region, const Situation& situation);

}  // namespace kw::codegen
