// PTX entry -> Code. Checks every operand once, so that the warp loop can trust all offsets. What
// cannot be executed is listed completely, with source lines, instead of failing at the first.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "ptx/module.h"
#include "vgpu/code.h"

namespace kw::vgpu {

/// Something in the text that the virtual GPU does not execute.
struct DecodeProblem {
  std::string message;  // "unsupported instruction mma.sync.…"
  SourcePlace place;
  std::string file;
};

struct Decoded {
  Code code;
  std::vector<DecodeProblem> problems;  // code is usable only when empty
  size_t visited = 0;                   // instructions of the entry and all it can call
};

/// Address of a module-level .global or .const variable: its region is its index.
uint64_t variable_address(int variable);
/// Address of a function as a value.
uint64_t function_address(int function);

/// What the source calls a variable of this PTX name.
std::string source_name(const std::string& name);

/// Decodes `module.functions[entry]` and everything it can call.
Decoded decode(const ptx::Module& module, int entry);

}  // namespace kw::vgpu
