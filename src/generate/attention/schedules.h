// The schedules for attention: each source gives its rows.
#pragma once

#include "emit/emit.h"

namespace kw::generate {

Schedules mma_attention_schedules();    // on tensor cores
Schedules plain_attention_schedules();  // on CUDA cores

}  // namespace kw::generate
