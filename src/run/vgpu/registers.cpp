// Assigns registers to slots. NVVM gives every value a register of its own, thousands per kernel; a
// file with a slot for each would not fit the cache. So lifetimes are computed by the usual
// backward analysis over basic blocks, and slots are reused per width. A lifetime is one interval
// of instruction indices, without holes: simpler than graph colouring, and a little larger. A
// guarded write does not end a lifetime, because lanes may keep the old value. The same analysis
// finds registers that may be read before they are written. Texts beyond the limits get a slot per
// register.
#include "vgpu/registers.h"

#include <algorithm>

#include "vgpu/basic_blocks.h"

namespace kw::vgpu {
namespace {

// No compiler writes a text beyond these limits; every register then gets its own bytes.
constexpr uint64_t kMaxLivenessBits = uint64_t{1} << 28;
constexpr int kMaxRounds = 100;

struct Lifetime {
  int first = -1, last = -1;
  void cover(int at) {
    if (first < 0 || at < first) first = at;
    if (at > last) last = at;
  }
};

struct Liveness {
  bool known = false;
  std::vector<Lifetime> lifetimes;
  Bits live_at_entry;
};

// The index of the condition code is after the last register.
int carry_of(const ptx::Function& function) { return static_cast<int>(function.registers.size()); }

void transfer(const ptx::Function& function, std::span<const RegisterUse> uses,
              const BasicBlock& block, Bits& live) {
  const int carry = carry_of(function);
  for (int i = block.end - 1; i >= block.first; --i) {
    const ptx::Instruction& instruction = function.instructions[i];
    const int destinations = uses[i].destinations;
    // A guarded write may keep the old value, so it does not end a lifetime.
    if (instruction.guard < 0) {
      each_definition(instruction, destinations, [&](int r) { clear_bit(live, r); });
      if (uses[i].writes_carry) clear_bit(live, carry);
    }
    each_use(instruction, destinations, [&](int r) { set_bit(live, r); });
    if (uses[i].reads_carry) set_bit(live, carry);
  }
}

Liveness analyse(const ptx::Function& function, std::span<const RegisterUse> uses) {
  const std::vector<BasicBlock> blocks = split_blocks(function);
  const size_t words = function.registers.size() / 64 + 1;
  if (uint64_t{words} * 64 * blocks.size() > kMaxLivenessBits) return {};
  std::vector<Bits> in(blocks.size(), Bits(words)), out(blocks.size(), Bits(words));
  int rounds = 0;
  for (bool changed = true; changed;) {
    if (++rounds > kMaxRounds) return {};
    changed = false;
    for (size_t b = blocks.size(); b-- > 0;) {
      Bits live(words);
      for (const int next : blocks[b].next) {
        for (size_t w = 0; w < words; ++w) live[w] |= in[next][w];
      }
      out[b] = live;
      transfer(function, uses, blocks[b], live);
      if (live != in[b]) {
        in[b] = std::move(live);
        changed = true;
      }
    }
  }
  Liveness result{true, std::vector<Lifetime>(function.registers.size()), Bits(words)};
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (size_t r = 0; r < function.registers.size(); ++r) {
      if (test_bit(in[b], r)) result.lifetimes[r].cover(blocks[b].first);
      if (test_bit(out[b], r)) result.lifetimes[r].cover(blocks[b].end - 1);
    }
  }
  if (!blocks.empty()) result.live_at_entry = in[0];
  return result;
}

void cover_mentions(const ptx::Function& function, std::vector<Lifetime>& lifetimes) {
  for (size_t i = 0; i < function.instructions.size(); ++i) {
    const ptx::Instruction& instruction = function.instructions[i];
    if (instruction.guard >= 0) lifetimes[instruction.guard].cover(i);
    for (const ptx::Operand& operand : instruction.operands)
      each_register(operand, [&](int r) { lifetimes[r].cover(i); });
  }
}

// Places registers of one width in the order in which their lifetimes start. Each takes the slot
// that has been free longest, or a new one.
void place_width(const ptx::Function& function, const std::vector<Lifetime>& lifetimes, int width,
                 RegisterPlan& plan) {
  std::vector<int> order;
  for (size_t r = 0; r < function.registers.size(); ++r) {
    if (register_width(function.registers[r].type) == width && lifetimes[r].first >= 0)
      order.push_back(static_cast<int>(r));
  }
  std::ranges::stable_sort(order,
                           [&](int a, int b) { return lifetimes[a].first < lifetimes[b].first; });
  struct Busy {
    int last;
    uint32_t offset;
    bool operator>(const Busy& other) const { return last > other.last; }
  };
  std::vector<Busy> heap;  // on top: the slot that becomes free first
  for (const int r : order) {
    uint32_t offset = plan.end;
    if (!heap.empty() && heap.front().last < lifetimes[r].first) {
      std::pop_heap(heap.begin(), heap.end(), std::greater<>());
      offset = heap.back().offset;
      heap.pop_back();
    } else {
      plan.end += slot_bytes(width);
    }
    plan.offsets[r] = offset;
    heap.push_back({lifetimes[r].last, offset});
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  }
}

// Lists the registers in `live` that are read at all, and finds the first instruction that reads
// one.
void list_undefined(const ptx::Function& function, std::span<const RegisterUse> uses,
                    const Bits& live, RegisterPlan& plan) {
  if (std::ranges::all_of(live, [](uint64_t word) { return word == 0; })) return;
  Bits read(live.size());
  const auto note = [&](int r, int at) {
    if (!test_bit(live, r)) return;
    set_bit(read, r);
    if (plan.first_undefined < 0) plan.first_undefined = at;
  };
  const int carry = carry_of(function);
  for (int i = 0; i < static_cast<int>(function.instructions.size()); ++i) {
    each_use(function.instructions[i], uses[i].destinations, [&](int r) { note(r, i); });
    if (uses[i].reads_carry) note(carry, i);
  }
  for (int r = 0; r < carry; ++r) {
    const auto width = static_cast<uint32_t>(register_width(function.registers[r].type));
    if (test_bit(read, r)) plan.undefined.push_back({plan.offsets[r], width});
  }
  plan.carry_undefined = test_bit(read, carry);
}

}  // namespace

int register_width(ptx::Type type) {
  const int size = ptx::type_size(type);
  return size == 1 ? 2 : size;
}

uint32_t slot_bytes(int width) { return width == 0 ? 4 : 32 * width; }

RegisterPlan plan_registers(const ptx::Function& function, std::span<const RegisterUse> uses,
                            uint32_t begin) {
  RegisterPlan plan;
  plan.offsets.assign(function.registers.size(), 0);
  plan.end = begin;
  Liveness liveness = analyse(function, uses);
  if (liveness.known) {
    cover_mentions(function, liveness.lifetimes);
  } else {
    const int all = static_cast<int>(function.instructions.size());
    liveness.lifetimes.assign(function.registers.size(), Lifetime{0, all});
    liveness.live_at_entry.assign(function.registers.size() / 64 + 1, ~uint64_t{0});
  }
  for (const int width : {16, 8, 4, 2, 0}) place_width(function, liveness.lifetimes, width, plan);
  plan.end = (plan.end + 63) & ~63u;
  list_undefined(function, uses, liveness.live_at_entry, plan);
  return plan;
}

}  // namespace kw::vgpu
