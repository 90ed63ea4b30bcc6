// Finds the program our workers are started from: `kernelwright` beside this library. Never the
// running binary, which is somebody else's.
#pragma once

#include "core/result.h"

namespace kw::clib {

/// Once per process; the same answer ever after. Environment Error: it is missing, or of another
/// version.
Status find_workers();

}  // namespace kw::clib
