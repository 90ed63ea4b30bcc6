// The functions behind the schedule table's rows for matrix products.
#pragma once

#include "emit/emit.h"

namespace kw::generate {

// matmul.cpp: on CUDA cores
bool matmul_applies(const Region& region, const TargetContext& context);
Kernel matmul_emit(const Region& region, const TargetContext& context);
bool matmul_phases_apply(const Region& region, const TargetContext& context);
bool matmul_phases_preferred(const Region& region, const TargetContext& context);
Kernel matmul_phases_emit(const Region& region, const TargetContext& context);
bool matmul_split_applies(const Region& region, const TargetContext& context);
bool matmul_split_preferred(const Region& region, const TargetContext& context);
Kernel matmul_split_emit(const Region& region, const TargetContext& context);
// tap_sums.cpp: few long sums, the taps of a channel by one thread
bool tap_sums_apply(const Region& region, const TargetContext& context);
bool tap_sums_preferred(const Region& region, const TargetContext& context);
Kernel tap_sums_emit(const Region& region, const TargetContext& context);
// matmul_wmma.cpp: on tensor cores
bool matmul_wmma_applies(const Region& region, const TargetContext& context);
Kernel matmul_wmma_emit(const Region& region, const TargetContext& context);
bool matmul_wmma_phases_apply(const Region& region, const TargetContext& context);
bool matmul_wmma_phases_preferred(const Region& region, const TargetContext& context);
Kernel matmul_wmma_phases_emit(const Region& region, const TargetContext& context);
bool matmul_wmma_split_applies(const Region& region, const TargetContext& context);
bool matmul_wmma_split_preferred(const Region& region, const TargetContext& context);
Kernel matmul_wmma_split_emit(const Region& region, const TargetContext& context);

}  // namespace kw::generate
