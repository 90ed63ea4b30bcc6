// Unpredictable numbers from the operating system, for values that a candidate must not guess.
#pragma once

#include <cstdint>

#include "core/result.h"

namespace kw::os {

/// 64 random bits. Blocks at boot until the system has gathered enough entropy.
Result<uint64_t> random_bits();

}  // namespace kw::os
