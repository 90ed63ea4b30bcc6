// Selects the compiler to use on this machine.
#pragma once

#include <memory>
#include <string>

#include "compile/nvrtc_compiler.h"
#include "compile/search.h"
#include "core/result.h"
#include "ports/compiler.h"

namespace kw::compile {

struct SelectOptions {
  std::string name =
      {};  // "nvrtc", "nvcc", "clang"; "" = $KERNELWRIGHT_COMPILER, otherwise the first one found
  bool cache = true;  // in os::cache_directory()
  NvrtcOptions nvrtc = {};
};

/// The compiler asked for, or the best one. If there is none, the environment Error lists every
/// place searched and the ways to install one.
Result<std::unique_ptr<ports::Compiler>> select_compiler(const SelectOptions& options = {});
/// The same with the results of an earlier search.
Result<std::unique_ptr<ports::Compiler>> select_compiler(const Toolbox& tools,
                                                         const SelectOptions& options);

}  // namespace kw::compile
