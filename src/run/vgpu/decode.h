// Decodes a PTX entry to Code. Checks every operand once, so that the warp loop can trust all
// offsets. Lists every instruction that cannot be executed, with its source line, instead of
// stopping at the first.
#pragma once

#include <string>
#include <vector>

#include "ptx/ptx_module.h"
#include "vgpu/code.h"

namespace kw::vgpu {

/// Something in the PTX text that the virtual GPU does not execute.
struct DecodeProblem {
  std::string message;  // "unsupported instruction mma.sync.…"
  SourcePlace place;
  std::string file;
};

struct Decoded {
  Code code;
  std::vector<DecodeProblem> problems;  // code is usable only when this is empty
  size_t visited = 0;                   // instructions of the entry and of all it can call
};

/// The source name of the variable with this PTX name.
std::string source_name(const std::string& name);

/// Decodes `module.functions[entry]` and every function it can call.
Decoded decode(const ptx::Module& module, int entry);

}  // namespace kw::vgpu
