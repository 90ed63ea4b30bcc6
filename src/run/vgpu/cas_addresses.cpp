#include "vgpu/cas_addresses.h"

#include <algorithm>

namespace kw::vgpu {
namespace {

constexpr int kMaxSteps = 16;  // steps from an address back to its base
constexpr int kNone = -1, kSeveral = -2;

bool is_cas(const ptx::Instruction& in) {
  return in.opcode == "atom" && in.has("cas") && in.operands.size() > 1;
}

}  // namespace

CasAddresses::CasAddresses(const ptx::Function& f, std::span<const int> destinations)
    : function_(&f) {
  if (std::ranges::none_of(f.instructions, is_cas)) return;
  definitions_.assign(f.registers.size(), kNone);
  const auto defined = [&](const ptx::Operand& operand, size_t by) {
    if (operand.reg < 0) return;
    int& definition = definitions_[static_cast<size_t>(operand.reg)];
    definition = definition == kNone ? static_cast<int>(by) : kSeveral;
  };
  for (size_t i = 0; i < f.instructions.size(); ++i) {
    for (int d = 0; d < destinations[i]; ++d) {
      const ptx::Operand& operand = f.instructions[i].operands[static_cast<size_t>(d)];
      defined(operand, i);
      for (const ptx::Operand& element : operand.elements) defined(element, i);
    }
  }
  for (const ptx::Instruction& instruction : f.instructions) {
    if (is_cas(instruction)) addresses_.insert(based(instruction.operands[1]));
  }
}

// One address may be a register in one place and another register plus an offset in the next. Both
// are followed back to their base.
std::pair<int, int64_t> CasAddresses::based(const ptx::Operand& where) const {
  std::pair<int, int64_t> at = {where.reg, where.offset};
  for (int step = 0; step < kMaxSteps && at.first >= 0; ++step) {
    const int definition = definitions_[static_cast<size_t>(at.first)];
    if (definition < 0) break;
    const ptx::Instruction& in = function_->instructions[static_cast<size_t>(definition)];
    if (in.guard >= 0 || in.operands.size() < 2 || in.operands[1].reg < 0) break;
    const bool sum = in.opcode == "add" && in.operands.size() == 3 &&
                     in.operands[2].kind == ptx::Operand::Kind::Immediate;
    if (!sum && in.opcode != "mov" && in.opcode != "cvta") break;
    if (sum) at.second += static_cast<int64_t>(in.operands[2].bits);
    at.first = in.operands[1].reg;
  }
  return at;
}

bool CasAddresses::starts_loop(const ptx::Operand& where) const {
  return !addresses_.empty() && where.reg >= 0 && addresses_.count(based(where)) != 0;
}

}  // namespace kw::vgpu
