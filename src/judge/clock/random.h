// The generator behind intervals and orders of samples.
#pragma once

#include "core/random.h"

namespace kw::clock {

using kw::Random;

}  // namespace kw::clock
