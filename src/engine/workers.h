// The main loops of our own worker processes: the same binary behind hidden subcommands.
#pragma once

#include "base/result.h"

namespace kw::engine {

int compile_worker();
int gpu_worker();
/// Runs the GPU's canary kernel once; something small and real for a profiler to look at.
Status gpu_canary();

}  // namespace kw::engine
