// The generator behind intervals and orders of samples.
#pragma once

#include "base/random.h"

namespace kw::bench {

using kw::Random;

}  // namespace kw::bench
