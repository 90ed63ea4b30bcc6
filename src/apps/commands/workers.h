// The main loops of our own worker processes: the same binary behind hidden subcommands.
#pragma once

#include <string>

#include "core/result.h"

namespace kw::commands {

int compile_worker();
int gpu_worker();
/// Runs foreign host code against a runtime that only writes down.
int captive_worker();
/// Runs the GPU's canary kernel once; something small and real for a profiler to look at.
Status gpu_canary();
/// One call of a program that gpu::ProfiledCall wrote down, marked for a profiler. What its kernels
/// print is thrown away.
Status gpu_profiled_call(const std::string& file, const std::string& memory);

}  // namespace kw::commands
