// The memory this process may still use. Callers refuse huge tensors with it, before the OOM killer
// ends the process.
#pragma once

#include <cstdint>

namespace kw::os {

/// The available bytes: MemAvailable, or the limit of the control group when it is lower. 0 when
/// unknown.
uint64_t available_memory();

}  // namespace kw::os
