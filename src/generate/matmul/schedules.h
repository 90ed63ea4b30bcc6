// The schedules for matrix products: each source returns its rows of the table.
#pragma once

#include "emit/emit.h"

namespace kw::generate {

Schedules matmul_schedules();    // on CUDA cores
Schedules wmma_schedules();      // on tensor cores
Schedules tap_sums_schedules();  // few long sums, the taps of a channel by one thread

inline constexpr ScheduleSource kMatmulSchedules[] = {matmul_schedules, wmma_schedules,
                                                      tap_sums_schedules};

/// Whether tensor cores can compute the product: they are tried first.
bool matmul_wmma_applies(const Region& region, const TargetContext& context);

}  // namespace kw::generate
