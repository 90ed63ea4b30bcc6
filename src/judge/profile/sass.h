// Reads machine code as nvdisasm and cuobjdump print it, and counts what it contains. Does not run
// the tools and does not judge the counts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace kw::profile {

struct SassInstruction {
  uint64_t address = 0;
  std::string predicate;  // "@P0", "@!UP1" or empty
  std::string opcode;     // with its modifiers: "LDG.E.128"
  std::string operands;   // "R8, desc[UR4][R2.64]"

  /// "@P0 LDG.E.128 R8, desc[UR4][R2.64]".
  std::string text() const;
};

struct SassLoop {
  uint64_t first = 0, last = 0;  // addresses; `last` jumps back to `first`
  int depth = 1;                 // 1: not inside another loop
};

/// One function of a binary, without padding and instructions that never execute (@!PT).
struct SassFunction {
  std::string name;    // mangled
  std::string target;  // "sm_90a"; empty when the text does not say
  std::vector<SassInstruction> code;
  std::vector<SassLoop> loops;  // by address

  /// The number of loops around the instruction at that address.
  int depth(uint64_t address) const;
};

/// Every function of one dump. Blame::Input names the first line of code that is not understood.
Result<std::vector<SassFunction>> parse_sass(std::string_view text);

/// The counts of one function.
struct SassFacts {
  int instructions = 0;
  std::map<std::string, int> opcodes;     // without modifiers: "LDG"
  std::map<int, int> loads, stores;       // of global memory, by bytes per thread
  int spill_loads = 0, spill_stores = 0;  // local memory
  int barriers = 0;                       // waits for the block or the cluster
  int tensor = 0;                         // matrix products of any kind
  int loops = 0, deepest = 0;
};
SassFacts sass_facts(const SassFunction& function);

}  // namespace kw::profile
