// The functions behind the schedule table's rows for attention.
#pragma once

#include "emit/emit.h"

namespace kw::generate {

// attention_mma.cpp: two products and the softmax between them on tensor cores
bool attention_mma_applies(const Region& region, const TargetContext& context);
Kernel attention_mma_emit(const Region& region, const TargetContext& context);
// attention_plain.cpp: the same on CUDA cores
bool attention_applies(const Region& region, const TargetContext& context);
Kernel attention_emit(const Region& region, const TargetContext& context);

}  // namespace kw::generate
