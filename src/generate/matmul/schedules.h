// The functions behind the schedule table's rows for elements computed one by one, moved, or
// multiplied as matrices.
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

// matmul.cpp: on CUDA cores
bool matmul_applies(const Region& region, const Situation& situation);
Kernel matmul_emit(const Region& region, const Situation& situation);
bool matmul_phases_apply(const Region& region, const Situation& situation);
bool matmul_phases_preferred(const Region& region, const Situation& situation);
Kernel matmul_phases_emit(const Region& region, const Situation& situation);
bool matmul_split_applies(const Region& region, const Situation& situation);
bool matmul_split_preferred(const Region& region, const Situation& situation);
Kernel matmul_split_emit(const Region& region, const Situation& situation);
// tap_sums.cpp: few long sums, the taps of a channel by one thread
bool tap_sums_apply(const Region& region, const Situation& situation);
bool tap_sums_preferred(const Region& region, const Situation& situation);
Kernel tap_sums_emit(const Region& region, const Situation& situation);
// matmul_wmma.cpp: on tensor cores
bool matmul_wmma_applies(const Region& region, const Situation& situation);
Kernel matmul_wmma_emit(const Region& region, const Situation& situation);
bool matmul_wmma_phases_apply(const Region& region, const Situation& situation);
bool matmul_wmma_phases_preferred(const Region& region, const Situation& situation);
Kernel matmul_wmma_phases_emit(const Region& region, const Situation& situation);
bool matmul_wmma_split_applies(const Region& region, const Situation& situation);
bool matmul_wmma_split_preferred(const Region& region, const Situation& situation);
Kernel matmul_wmma_split_emit(const Region& region, const Situation& situation);

// attention_mma.cpp: two products and the softmax between them on tensor cores
bool attention_mma_applies(const Region& region, const Situation& situation);
Kernel attention_mma_emit(const Region& region, const Situation& situation);
// attention_plain.cpp: the same on CUDA cores
bool attention_applies(const Region& region, const Situation& situation);
Kernel attention_emit(const Region& region, const Situation& situation);

}  // namespace kw::generate
