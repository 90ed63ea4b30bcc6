// A warp with undefined registers computes the undefined bits of every result, which costs several
// times the instruction itself. So the decoder finds the instructions that cannot meet such bits, by
// the usual forward analysis. Its sets hold slots, not registers: a slot keeps the bits of its last
// register until another one is written. A lane follows one path through the function, so it is
// enough that every path to an instruction has overwritten the slot in the lane that runs.
// Only ALU instructions and loads take a slot from the set; what others write stays in it.
#include "vgpu/undefined_flow.h"

#include <algorithm>
#include <map>

#include "vgpu/basic_blocks.h"

namespace kw::vgpu {
namespace {

constexpr uint64_t kMaxFlowBits = uint64_t{1} << 26;
constexpr int kMaxFlowRounds = 100;

/// Registers as numbers of their slots; the condition code has the last number.
class Slots {
 public:
  Slots(const ptx::Function& function, const RegisterPlan& plan) {
    std::map<uint32_t, int> numbers;
    for (size_t r = 0; r < function.registers.size(); ++r) {
      const auto at = numbers.try_emplace(plan.offsets[r], static_cast<int>(numbers.size()));
      of_register_.push_back(at.first->second);
    }
    count_ = static_cast<int>(numbers.size()) + 1;
    start_.resize(static_cast<size_t>(count_) / 64 + 1);
    for (const SavedSlot& slot : plan.undefined) set_bit(start_, numbers.at(slot.offset));
    if (plan.carry_undefined) set_bit(start_, carry());
  }
  int of(int r) const { return of_register_[static_cast<size_t>(r)]; }
  int carry() const { return count_ - 1; }
  /// The slots that are undefined when the function starts.
  const Bits& start() const { return start_; }

 private:
  std::vector<int> of_register_;
  int count_ = 0;
  Bits start_;
};

/// A call passes bits through frames that this analysis does not follow.
bool is_alone(const ptx::Function& function) {
  return function.is_entry &&
         std::ranges::none_of(function.instructions,
                              [](const ptx::Instruction& in) { return in.opcode == "call"; }) &&
         std::ranges::none_of(function.variables, [](const ptx::Variable& variable) {
           return variable.space == ptx::Space::Param;
         });
}

class Flow {
 public:
  Flow(const ptx::Function& function, std::span<const RegisterUse> uses, const RegisterPlan& plan)
      : function_(function), uses_(uses), slots_(function, plan) {}

  std::vector<bool> run() {
    const std::vector<BasicBlock> blocks = split_blocks(function_);
    if (uint64_t{slots_.start().size()} * 64 * blocks.size() > kMaxFlowBits) return {};
    std::vector<Bits> in(blocks.size(), Bits(slots_.start().size()));
    in[0] = slots_.start();
    std::vector<bool> defined(function_.instructions.size());
    int rounds = 0;
    for (bool changed = true; changed;) {
      if (++rounds > kMaxFlowRounds) return {};
      changed = false;
      for (size_t b = 0; b < blocks.size(); ++b) {
        Bits now = in[b];
        for (int i = blocks[b].first; i < blocks[b].end; ++i)
          defined[static_cast<size_t>(i)] = step(i, now);
        for (const int next : blocks[b].next) changed |= join(now, in[static_cast<size_t>(next)]);
      }
    }
    return defined;
  }

 private:
  static bool join(const Bits& from, Bits& into) {
    bool changed = false;
    for (size_t w = 0; w < into.size(); ++w) {
      changed |= (from[w] & ~into[w]) != 0;
      into[w] |= from[w];
    }
    return changed;
  }

  // Advances the set over an instruction. Returns whether it meets no slot of the set.
  bool step(int i, Bits& now) const {
    const ptx::Instruction& in = function_.instructions[static_cast<size_t>(i)];
    const RegisterUse& use = uses_[static_cast<size_t>(i)];
    const bool plain = use.is_alu || in.opcode == "ld";
    bool reads = use.reads_carry && test_bit(now, slots_.carry());
    bool writes = use.writes_carry && test_bit(now, slots_.carry());
    each_use(in, use.destinations, [&](int r) { reads |= test_bit(now, slots_.of(r)); });
    each_definition(in, use.destinations, [&](int r) { writes |= test_bit(now, slots_.of(r)); });
    const auto change = [&](bool undefined) {
      const auto put = [&](int slot) { undefined ? set_bit(now, slot) : clear_bit(now, slot); };
      each_definition(in, use.destinations, [&](int r) { put(slots_.of(r)); });
      if (use.writes_carry) put(slots_.carry());
    };
    if (reads || (writes && !plain))
      change(true);
    else if (plain && in.guard < 0)
      change(false);
    return !reads && !writes;
  }

  const ptx::Function& function_;
  std::span<const RegisterUse> uses_;
  Slots slots_;
};

}  // namespace

std::vector<bool> defined_instructions(const ptx::Function& function,
                                       std::span<const RegisterUse> uses,
                                       const RegisterPlan& plan) {
  if (function.instructions.empty() || !is_alone(function)) return {};
  return Flow(function, uses, plan).run();
}

}  // namespace kw::vgpu
