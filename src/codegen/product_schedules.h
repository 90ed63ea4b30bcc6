// The functions behind the schedule table's rows for matrix products.
#pragma once

#include "codegen/schedule.h"

namespace kw::codegen {

// matmul.cpp: on CUDA cores
bool matmul_applies(const Region& region, const Situation& situation);
Kernel matmul_emit(const Region& region, const Situation& situation);
bool matmul_split_applies(const Region& region, const Situation& situation);
Kernel matmul_split_emit(const Region& region, const Situation& situation);
// matmul_wmma.cpp: on tensor cores
bool matmul_wmma_applies(const Region& region, const Situation& situation);
Kernel matmul_wmma_emit(const Region& region, const Situation& situation);

}  // namespace kw::codegen
