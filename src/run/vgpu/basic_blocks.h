// Which instructions of a PTX function follow each other, and which registers they name. Internal
// to this module.
#pragma once

#include <vector>

#include "ptx/ptx_module.h"

namespace kw::vgpu {

/// Instructions [first, end) that run one after the other; `next`: the blocks that may follow.
struct BasicBlock {
  int first = 0, end = 0;
  std::vector<int> next;
};

/// The first block has the first instruction.
std::vector<BasicBlock> split_blocks(const ptx::Function& function);

template <typename Visit>
void each_register(const ptx::Operand& operand, const Visit& visit) {
  if (operand.reg >= 0) visit(operand.reg);
  for (const ptx::Operand& element : operand.elements) each_register(element, visit);
}

/// The registers that it reads: its guard and all operands behind the `destinations` that it
/// writes.
template <typename Visit>
void each_use(const ptx::Instruction& instruction, int destinations, const Visit& visit) {
  if (instruction.guard >= 0) visit(instruction.guard);
  for (size_t i = destinations; i < instruction.operands.size(); ++i)
    each_register(instruction.operands[i], visit);
}

template <typename Visit>
void each_definition(const ptx::Instruction& instruction, int destinations, const Visit& visit) {
  for (int i = 0; i < destinations && i < static_cast<int>(instruction.operands.size()); ++i)
    each_register(instruction.operands[i], visit);
}

/// A set of registers.
using Bits = std::vector<uint64_t>;

inline void set_bit(Bits& bits, int index) { bits[index / 64] |= uint64_t{1} << (index % 64); }
inline void clear_bit(Bits& bits, int index) { bits[index / 64] &= ~(uint64_t{1} << (index % 64)); }
inline bool test_bit(const Bits& bits, int index) { return (bits[index / 64] >> (index % 64)) & 1; }

}  // namespace kw::vgpu
