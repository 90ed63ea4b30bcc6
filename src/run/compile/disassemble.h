// Prints the machine code of a cubin as text, with NVIDIA's own programs.
#pragma once

#include <string>
#include <string_view>

#include "compile/search.h"
#include "core/result.h"

namespace kw::compile {

/// Paths; "": not installed.
struct Disassembler {
  std::string nvdisasm, cuobjdump;
  bool found() const { return !nvdisasm.empty() || !cuobjdump.empty(); }
};
Disassembler find_disassembler(const SearchOptions& options = {});

/// The output of nvdisasm; if it is missing or fails on this file, of cuobjdump. Environment
/// Errors: neither is installed (with what to do), or both failed (with what each printed).
Result<std::string> disassemble(std::string_view cubin, const Disassembler& tools,
                                double timeout_seconds = 60);

/// The same, but from the compile cache if these programs have printed this cubin before.
Result<std::string> disassemble_once(std::string_view cubin, const Disassembler& tools,
                                     double timeout_seconds = 60);

}  // namespace kw::compile
