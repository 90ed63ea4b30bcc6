// The functions behind the schedule table's rows for elements computed one by one, or moved.
#pragma once

#include "emit/emit.h"

namespace kw::generate {

// pointwise.cpp: one thread per few elements
bool pointwise_applies(const Region& region, const TargetContext& context);
Kernel pointwise_emit(const Region& region, const TargetContext& context);
Kernel pointwise_loop_emit(const Region& region, const TargetContext& context);
// generic.cpp: one thread per element, loops for the rest
bool generic_applies(const Region& region, const TargetContext& context);
Kernel generic_emit(const Region& region, const TargetContext& context);

// taps.cpp: windows with few elements, written out
bool taps_apply(const Region& region, const TargetContext& context);
bool taps_preferred(const Region& region, const TargetContext& context);
Kernel taps_emit(const Region& region, const TargetContext& context);

// transpose.cpp: tiles turned in shared memory
bool transpose_applies(const Region& region, const TargetContext& context);
Kernel transpose_emit(const Region& region, const TargetContext& context);
// scatter.cpp: a thread per source element, then one per result
bool scatter_applies(const Region& region, const TargetContext& context);
Kernel scatter_emit(const Region& region, const TargetContext& context);
// … in shared memory where there are few places
bool scatter_block_applies(const Region& region, const TargetContext& context);
Kernel scatter_block_emit(const Region& region, const TargetContext& context);
// gather_rows.cpp: rows picked from tables
bool gather_rows_applies(const Region& region, const TargetContext& context);
Kernel gather_rows_emit(const Region& region, const TargetContext& context);

}  // namespace kw::generate
