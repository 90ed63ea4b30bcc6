// The functions behind the schedule table's rows for operations along one dim: scans, arg
// reductions, selections, reductions over leading dims.
#pragma once

#include "emit/emit.h"

namespace kw::generate {

// scan.cpp: a group of threads per row
bool scan_applies(const Region& region, const TargetContext& context);
Kernel scan_warp_emit(const Region& region, const TargetContext& context);
Kernel scan_block_emit(const Region& region, const TargetContext& context);
bool scan_split_applies(const Region& region, const TargetContext& context);
Kernel scan_split_emit(const Region& region, const TargetContext& context);
bool scan_chain_applies(const Region& region, const TargetContext& context);
Kernel scan_chain_emit(const Region& region, const TargetContext& context);
// scan_columns.cpp: a stack of threads per few neighbouring rows
bool scan_columns_applies(const Region& region, const TargetContext& context);
Kernel scan_columns_emit(const Region& region, const TargetContext& context);
bool scan_columns_split_applies(const Region& region, const TargetContext& context);
Kernel scan_columns_split_emit(const Region& region, const TargetContext& context);

// arg_rows.cpp: the best of a row and its place
bool arg_rows_applies(const Region& region, const TargetContext& context);
Kernel arg_warp_emit(const Region& region, const TargetContext& context);
Kernel arg_block_emit(const Region& region, const TargetContext& context);
bool arg_split_applies(const Region& region, const TargetContext& context);
Kernel arg_split_emit(const Region& region, const TargetContext& context);

// column_reduce.cpp: reductions and arg reductions over leading or middle dims
bool column_whole_applies(const Region& region, const TargetContext& context);
Kernel column_whole_emit(const Region& region, const TargetContext& context);
bool column_split_applies(const Region& region, const TargetContext& context);
Kernel column_split_emit(const Region& region, const TargetContext& context);

// top_k.cpp: the best few of a row, in a warp's registers
bool top_k_applies(const Region& region, const TargetContext& context);
Kernel top_k_emit(const Region& region, const TargetContext& context);
// sort.cpp: whole rows
bool sort_applies(const Region& region, const TargetContext& context);
Kernel sort_emit(const Region& region, const TargetContext& context);

}  // namespace kw::generate
