// Machine code of a cubin as text, by NVIDIA's own programs. Reading the text is done elsewhere.
#pragma once

#include <string>
#include <string_view>

#include "compile/search.h"
#include "core/result.h"

namespace kw::compile {

/// Paths; "": not here.
struct Disassembler {
  std::string nvdisasm, cuobjdump;
  bool found() const { return !nvdisasm.empty() || !cuobjdump.empty(); }
};
Disassembler find_disassembler(const SearchOptions& options = {});

/// What nvdisasm prints, or where it is missing or fails on this file, cuobjdump. Environment
/// Errors: neither is here (with the way out), or none could (with what each said).
Result<std::string> disassemble(std::string_view cubin, const Disassembler& tools,
                                double timeout_seconds = 60);

/// The same, read from the compile cache where these programs have printed this cubin before.
Result<std::string> disassemble_once(std::string_view cubin, const Disassembler& tools,
                                     double timeout_seconds = 60);

}  // namespace kw::compile
