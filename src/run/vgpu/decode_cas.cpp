// Finds plain loads that only start a compare-and-swap loop: those from an address that the same
// function also passes to atom.cas.
#include "vgpu/decoder.h"

namespace kw::vgpu {
namespace {

constexpr int kMaxSteps = 16;  // steps from an address back to its base
constexpr int kNone = -1, kSeveral = -2;

bool is_cas(const ptx::Instruction& in) {
  return in.opcode == "atom" && in.has("cas") && in.operands.size() > 1;
}

}  // namespace

void Decoder::find_cas_addresses() {
  cas_addresses_.clear();
  definitions_.clear();
  const ptx::Function& f = function();
  bool any = false;
  for (const ptx::Instruction& instruction : f.instructions) any = any || is_cas(instruction);
  if (!any) return;
  definitions_.assign(f.registers.size(), kNone);
  const auto defined = [&](const ptx::Operand& operand, size_t by) {
    if (operand.reg < 0) return;
    int& definition = definitions_[static_cast<size_t>(operand.reg)];
    definition = definition == kNone ? static_cast<int>(by) : kSeveral;
  };
  for (size_t i = 0; i < f.instructions.size(); ++i) {
    for (int d = 0; d < shapes_[current_][i].destinations; ++d) {
      const ptx::Operand& operand = f.instructions[i].operands[static_cast<size_t>(d)];
      defined(operand, i);
      for (const ptx::Operand& element : operand.elements) defined(element, i);
    }
  }
  for (const ptx::Instruction& instruction : f.instructions) {
    if (is_cas(instruction)) cas_addresses_.insert(based(instruction.operands[1]));
  }
}

// One address may be a register in one place and another register plus an offset in the next. Both
// are followed back to their base.
std::pair<int, int64_t> Decoder::based(const ptx::Operand& where) const {
  std::pair<int, int64_t> at = {where.reg, where.offset};
  for (int step = 0; step < kMaxSteps && at.first >= 0; ++step) {
    const int definition = definitions_[static_cast<size_t>(at.first)];
    if (definition < 0) break;
    const ptx::Instruction& in = function().instructions[static_cast<size_t>(definition)];
    if (in.guard >= 0 || in.operands.size() < 2 || in.operands[1].reg < 0) break;
    const bool sum = in.opcode == "add" && in.operands.size() == 3 &&
                     in.operands[2].kind == ptx::Operand::Kind::Immediate;
    if (!sum && in.opcode != "mov" && in.opcode != "cvta") break;
    if (sum) at.second += static_cast<int64_t>(in.operands[2].bits);
    at.first = in.operands[1].reg;
  }
  return at;
}

bool Decoder::starts_cas_loop(const ptx::Operand& where) const {
  return !cas_addresses_.empty() && where.reg >= 0 && cas_addresses_.count(based(where)) != 0;
}

}  // namespace kw::vgpu
