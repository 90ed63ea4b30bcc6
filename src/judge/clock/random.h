// The random generator for bootstrap intervals and sample orders.
#pragma once

#include "core/random.h"

namespace kw::clock {

using kw::Random;

}  // namespace kw::clock
