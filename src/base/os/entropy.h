// Unpredictable numbers from the operating system: for what a candidate must not be able to guess.
#pragma once

#include <cstdint>

#include "core/result.h"

namespace kw::os {

/// 64 random bits; waits until the system has gathered enough at boot.
Result<uint64_t> random_bits();

}  // namespace kw::os
