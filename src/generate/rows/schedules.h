// The functions behind the schedule table's rows for row programs.
#pragma once

#include "emit/emit.h"

namespace kw::generate {

// row.cpp: chains of reductions over a row and what is computed from them
/// The tunable that merges the passes of a maximum and its sum of exponentials, and its method.
void add_online(Kernel& kernel, const Region& region);
bool rows_apply(const Region& region, const TargetContext& context);
bool lanes_apply(const Region& region, const TargetContext& context);
bool rows_prefer_lanes(const Region& region, const TargetContext& context);
Kernel block_per_row_emit(const Region& region, const TargetContext& context);
Kernel lanes_per_row_emit(const Region& region, const TargetContext& context);

// stack.cpp: the same where neighbouring rows lie side by side in memory
bool stacked_rows_apply(const Region& region, const TargetContext& context);
Kernel stacked_rows_emit(const Region& region, const TargetContext& context);
bool stacked_split_applies(const Region& region, const TargetContext& context);
Kernel stacked_split_emit(const Region& region, const TargetContext& context);

// row_shared.cpp: a block per row, which is kept in shared memory
bool shared_rows_apply(const Region& region, const TargetContext& context);
Kernel shared_rows_emit(const Region& region, const TargetContext& context);

// row_split.cpp: several blocks per row
bool split_rows_apply(const Region& region, const TargetContext& context);
Kernel split_rows_emit(const Region& region, const TargetContext& context);

}  // namespace kw::generate
