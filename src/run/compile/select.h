// Which compiler to use on this machine.
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
      {};  // "nvrtc", "nvcc", "clang"; "" = $KERNELWRIGHT_COMPILER, else the first of these found
  bool cache = true;  // in os::cache_directory()
  NvrtcOptions nvrtc = {};
};

/// The compiler asked for, or the best there is. When there is none the one environment Error says
/// every place looked at and the ways to get one.
Result<std::unique_ptr<ports::Compiler>> select_compiler(const SelectOptions& options = {});
/// The same from what was found before.
Result<std::unique_ptr<ports::Compiler>> select_compiler(const Toolbox& tools,
                                                         const SelectOptions& options);

}  // namespace kw::compile
