// How much memory this process may still use, so that huge tensors are refused instead of summoning
// the OOM killer.
#pragma once

#include <cstdint>

namespace kw::os {

/// Bytes that can be had now: MemAvailable, or less where a control group allows less. 0 when
/// unknown.
uint64_t available_memory();

}  // namespace kw::os
