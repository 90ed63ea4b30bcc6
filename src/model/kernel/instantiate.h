// Turns a bound and compiled module into a Program: buffers, and launches with their parameters as
// bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "kernel/module.h"
#include "kernel/program.h"
#include "kernel/select.h"

namespace kw::kernel {

/// What the compiler reports about one kernel of a Selection.
struct KernelInfo {
  std::string expression;  // as in Selection::kernels
  std::string entry;       // symbol in the image
  std::string signature;   // demangled: "void rms_norm<256, 2>(__half const*, __half*, int, float)"
  int registers = -1;      // -1: unknown, then registers set no limit
  int64_t static_shared = 0;
  int max_threads = -1;  // from __launch_bounds__; -1: unknown
};

/// Input Errors are domain errors and mismatches between args(...) and the parameters, with the
/// values shown. A launch whose grid is empty because some dim is 0 is left out.
Result<Program> instantiate(const Module& module, const Bindings& bindings,
                            const Selection& selection, const std::vector<KernelInfo>& kernels);

}  // namespace kw::kernel
