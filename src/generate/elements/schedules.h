// The functions behind the schedule table's rows for elements computed one by one, or moved.
#pragma once

#include "emit/emit.h"

namespace kw::generate {

// pointwise.cpp: one thread per few elements
bool pointwise_applies(const Region& region, const Situation& situation);
Kernel pointwise_emit(const Region& region, const Situation& situation);
Kernel pointwise_loop_emit(const Region& region, const Situation& situation);
// generic.cpp: one thread per element, loops for the rest
bool generic_applies(const Region& region, const Situation& situation);
Kernel generic_emit(const Region& region, const Situation& situation);

// taps.cpp: windows with few elements, written out
bool taps_apply(const Region& region, const Situation& situation);
bool taps_preferred(const Region& region, const Situation& situation);
Kernel taps_emit(const Region& region, const Situation& situation);

// transpose.cpp: tiles turned in shared memory
bool transpose_applies(const Region& region, const Situation& situation);
Kernel transpose_emit(const Region& region, const Situation& situation);
// scatter.cpp: a thread per source element, then one per result
bool scatter_applies(const Region& region, const Situation& situation);
Kernel scatter_emit(const Region& region, const Situation& situation);
// … in shared memory where there are few places
bool scatter_block_applies(const Region& region, const Situation& situation);
Kernel scatter_block_emit(const Region& region, const Situation& situation);
// gather_rows.cpp: rows picked from tables
bool gather_rows_applies(const Region& region, const Situation& situation);
Kernel gather_rows_emit(const Region& region, const Situation& situation);

}  // namespace kw::generate
