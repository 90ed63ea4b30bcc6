// Finds the program that our workers are started from: `kernelwright` beside this library. It is
// never the running binary, which belongs to the caller.
#pragma once

#include "core/result.h"

namespace kw::clib {

/// Searches once per process and keeps the answer. Environment Error: it is missing, or of another
/// version.
Status find_workers();

}  // namespace kw::clib
