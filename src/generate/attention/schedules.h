// The schedules for attention: each source returns its rows of the table.
#pragma once

#include "emit/emit.h"

namespace kw::generate {

Schedules mma_attention_schedules();    // on tensor cores
Schedules plain_attention_schedules();  // on CUDA cores

inline constexpr ScheduleSource kAttentionSchedules[] = {mma_attention_schedules,
                                                         plain_attention_schedules};

}  // namespace kw::generate
