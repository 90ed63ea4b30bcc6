// The functions behind the schedule table's rows for operations along one dim: scans, arg
// reductions, selections, reductions over leading dims.
#pragma once

#include "emit/emit.h"

namespace kw::generate {

// scan.cpp: a group of threads per row
bool scan_applies(const Region& region, const Situation& situation);
Kernel scan_warp_emit(const Region& region, const Situation& situation);
Kernel scan_block_emit(const Region& region, const Situation& situation);
bool scan_split_applies(const Region& region, const Situation& situation);
Kernel scan_split_emit(const Region& region, const Situation& situation);
bool scan_chain_applies(const Region& region, const Situation& situation);
Kernel scan_chain_emit(const Region& region, const Situation& situation);
// scan_columns.cpp: a stack of threads per few neighbouring rows
bool scan_columns_applies(const Region& region, const Situation& situation);
Kernel scan_columns_emit(const Region& region, const Situation& situation);
bool scan_columns_split_applies(const Region& region, const Situation& situation);
Kernel scan_columns_split_emit(const Region& region, const Situation& situation);

// arg_rows.cpp: the best of a row and its place
bool arg_rows_applies(const Region& region, const Situation& situation);
Kernel arg_warp_emit(const Region& region, const Situation& situation);
Kernel arg_block_emit(const Region& region, const Situation& situation);
bool arg_split_applies(const Region& region, const Situation& situation);
Kernel arg_split_emit(const Region& region, const Situation& situation);

// column_reduce.cpp: reductions and arg reductions over leading or middle dims
bool column_whole_applies(const Region& region, const Situation& situation);
Kernel column_whole_emit(const Region& region, const Situation& situation);
bool column_split_applies(const Region& region, const Situation& situation);
Kernel column_split_emit(const Region& region, const Situation& situation);

// top_k.cpp: the best few of a row, in a warp's registers
bool top_k_applies(const Region& region, const Situation& situation);
Kernel top_k_emit(const Region& region, const Situation& situation);
// sort.cpp: whole rows
bool sort_applies(const Region& region, const Situation& situation);
Kernel sort_emit(const Region& region, const Situation& situation);

}  // namespace kw::generate
