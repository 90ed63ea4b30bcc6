// How undefined bits pass through ALU instructions (isa::TaintRule), lane by lane. Only warps that
// have read undefined data come here, and most of their values are defined. So whole registers are
// checked first, and only lanes with undefined sources are computed one by one. Copies, shifts and
// selects run the instruction itself on the shadow file. Bitwise instructions hide bits exactly: x
// & 0 is defined. All others make the whole result undefined, which may report too much but never
// too little.
#include <cstring>

#include "vgpu/address.h"
#include "vgpu/lane_values.h"
#include "vgpu/machine.h"
#include "vgpu/slow_ops.h"
#include "vgpu/taint.h"

namespace kw::vgpu {
namespace {

struct Wide {
  uint64_t part[2] = {0, 0};
  bool any() const { return (part[0] | part[1]) != 0; }
};

uint32_t word(const std::byte* at) {
  uint32_t value = 0;
  std::memcpy(&value, at, 4);
  return value;
}

Wide get(const std::byte* file, uint32_t slot, int width, int lane) {
  Wide value;
  if (width == 0) {
    value.part[0] = (word(file + slot) >> lane & 1) != 0 ? ~uint64_t{0} : 0;
  } else if (width == 4) {  // same width as it was written: faster on the CPU
    value.part[0] = word(file + slot + lane * 4);
  } else {
    std::memcpy(&value, file + slot + lane * width, static_cast<size_t>(width));
  }
  return value;
}

/// Whether no lane has a bit set in this register.
bool is_clear(const std::byte* file, uint32_t slot, int width) {
  if (width == 0) return word(file + slot) == 0;
  return !any_bit(file + slot, static_cast<uint32_t>(width) * kLanes);
}

void clear(std::byte* file, uint32_t slot, int width, uint32_t lanes) {
  if (width == 0) {
    const uint32_t mask = word(file + slot) & ~lanes;
    std::memcpy(file + slot, &mask, 4);
  } else if (lanes == ~uint32_t{0}) {
    std::memset(file + slot, 0, static_cast<size_t>(width) * kLanes);
  } else if (!is_clear(file, slot, width)) {
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
      std::memset(file + slot + __builtin_ctz(rest) * width, 0, static_cast<size_t>(width));
  }
}

void put(std::byte* file, uint32_t slot, int width, int lane, const Wide& value) {
  if (width == 0) {
    const uint32_t before = word(file + slot), bit = 1u << lane;
    const uint32_t mask = value.part[0] != 0 ? before | bit : before & ~bit;
    std::memcpy(file + slot, &mask, 4);
  } else {
    std::memcpy(file + slot + lane * width, &value, static_cast<size_t>(width));
  }
}

const Wide kUndefined{{~uint64_t{0}, ~uint64_t{0}}};

struct AluCall {
  Warp& w;
  const Inst& in;
  const isa::Alu& alu;
  Wide shadow(int source, int lane) const {
    return get(w.shadow, in.args.src[source], alu.src[source].width, lane);
  }
  Wide value(int source, int lane) const {
    Wide v = get(w.regs, in.args.src[source], alu.src[source].width, lane);
    if ((in.args.negate >> source & 1) != 0) v.part[0] = ~v.part[0];
    return v;
  }
  void set_all(int lane, const Wide& bits) const {
    for (int d = 0; d < alu.dsts; ++d) put(w.shadow, in.args.dst[d], alu.dst[d].width, lane, bits);
    if (alu.writes_carry) put(w.shadow, in.args.carry, 0, lane, bits);
  }
  void clear_all(uint32_t lanes) const {
    for (int d = 0; d < alu.dsts; ++d) clear(w.shadow, in.args.dst[d], alu.dst[d].width, lanes);
    if (alu.writes_carry) clear(w.shadow, in.args.carry, 0, lanes);
  }
  /// Lanes of `mask` in which the source has undefined bits.
  uint32_t undefined_lanes(int source, uint32_t mask) const {
    if (is_clear(w.shadow, in.args.src[source], alu.src[source].width)) return 0;
    uint32_t result = 0;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      if (shadow(source, lane).any()) result |= 1u << lane;
    }
    return result;
  }
  bool all_defined() const {
    if (alu.reads_carry && word(w.shadow + in.args.carry) != 0) return false;
    for (int s = 0; s < alu.srcs; ++s) {
      if (!is_clear(w.shadow, in.args.src[s], alu.src[s].width)) return false;
    }
    return true;
  }
  uint32_t undefined_lanes(uint32_t mask) const {
    uint32_t result = alu.reads_carry ? word(w.shadow + in.args.carry) & mask : 0;
    for (int s = 0; s < alu.srcs; ++s) result |= undefined_lanes(s, mask & ~result);
    return result;
  }
};

// One to three sources (not, and, lop3). Only and/or, which have two, can hide an undefined bit.
void bitwise(const AluCall& c, int lane, isa::TaintRule rule) {
  Wide bits;
  for (int s = 0; s < c.alu.srcs; ++s) {
    const Wide undefined = c.shadow(s, lane);
    for (int i = 0; i < 2; ++i) bits.part[i] |= undefined.part[i];
  }
  if (rule == isa::TaintRule::BitXor) return c.set_all(lane, bits);
  for (int s = 0; s < c.alu.srcs; ++s) {
    const Wide undefined = c.shadow(s, lane), value = c.value(s, lane);
    for (int i = 0; i < 2; ++i) {
      const uint64_t hides = rule == isa::TaintRule::BitOr ? value.part[i] : ~value.part[i];
      bits.part[i] &= ~(hides & ~undefined.part[i]);
    }
  }
  c.set_all(lane, bits);
}

// Runs the instruction itself on the shadow. One operand (shift amount, selector) is taken from the
// real registers.
void through_function(const AluCall& c, uint32_t lanes, int real_source) {
  isa::AluArgs args = c.in.args;
  const uint32_t slot = real_source >= 0 ? args.src[real_source] : 0;
  const int width = real_source >= 0 ? c.alu.src[real_source].width : 0;
  const size_t bytes = width == 0 ? 4 : static_cast<size_t>(width) * kLanes;
  alignas(64) std::byte saved[512];
  if (real_source >= 0) {
    std::memcpy(saved, c.w.shadow + slot, bytes);
    std::memcpy(c.w.shadow + slot, c.w.regs + slot, bytes);
    args.negate &= 1u << real_source;
  } else {
    args.negate = 0;
  }
  bool overwritten = false;  // the destination is the borrowed register itself
  for (int d = 0; d < c.alu.dsts; ++d) overwritten = overwritten || args.dst[d] == slot;
  c.in.fn(c.w.shadow, args, lanes);
  if (real_source < 0) return;
  if (!overwritten) {
    std::memcpy(c.w.shadow + slot, saved, bytes);
    return;
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) != 0) continue;
    if (width == 0) continue;
    std::memcpy(c.w.shadow + slot + lane * width, saved + lane * width, static_cast<size_t>(width));
  }
}

// Predicates select one bit each, so they run on whole masks.
bool selects(const isa::Alu& alu) { return alu.taint == isa::TaintRule::Select && alu.srcs == 3; }

}  // namespace

void taint_alu(Machine& m, Warp& w, uint32_t pc, uint32_t mask, uint32_t group) {
  const Inst& in = m.code[pc];
  const isa::Alu& alu = m.alus[in.target];
  const AluCall c{w, in, alu};
  uint32_t unsure = 0;
  if (in.guard != 0) unsure = word(w.shadow + in.guard) & group;
  if (unsure == 0 && c.all_defined()) return c.clear_all(mask);
  uint32_t per_lane = mask;
  const int real = alu.taint == isa::TaintRule::Shift || selects(alu) ? alu.srcs - 1 : -1;
  if (alu.taint == isa::TaintRule::Copy) {
    through_function(c, mask, -1);
    per_lane = 0;
  } else if (real >= 0) {
    per_lane = c.undefined_lanes(real, mask);  // an undefined amount or selector: all undefined
    through_function(c, mask & ~per_lane, real);
  }
  const uint32_t spoiled = c.undefined_lanes(per_lane);
  const bool bits = alu.taint == isa::TaintRule::BitAnd || alu.taint == isa::TaintRule::BitOr ||
                    alu.taint == isa::TaintRule::BitXor;
  for (uint32_t rest = spoiled; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (bits && alu.dsts == 1)
      bitwise(c, lane, alu.taint);
    else
      c.set_all(lane, kUndefined);
  }
  c.clear_all(per_lane & ~spoiled);
  // If the guard is undefined, it is undefined whether the instruction ran.
  for (uint32_t rest = unsure; rest != 0; rest &= rest - 1)
    c.set_all(__builtin_ctz(rest), kUndefined);
}

namespace {

template <class T>
bool any_zero(const std::byte* slot) {
  T values[kLanes];
  std::memcpy(values, slot, sizeof values);
  bool found = false;
  for (const T value : values) found |= value == 0;
  return found;
}

}  // namespace

uint32_t zero_lanes(const Warp& w, const Inst& in, const isa::Alu& alu, uint32_t mask) {
  uint32_t lanes = 0;
  const std::byte* divisor = w.regs + in.args.src[1];
  const int width = alu.src[1].width;
  if (!(width == 4   ? any_zero<uint32_t>(divisor)
        : width == 8 ? any_zero<uint64_t>(divisor)
                     : any_zero<uint16_t>(divisor)))
    return 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (!get(w.regs, in.args.src[1], alu.src[1].width, lane).any()) lanes |= 1u << lane;
  }
  return lanes;
}

void undefine_quotient(Machine& m, Warp& w, uint32_t pc, uint32_t lanes) {
  const Inst& in = m.code[pc];
  begin_taint(m, w, pc, kQuotient, 0);
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
    put(w.shadow, in.args.dst[0], m.alus[in.target].dst[0].width, __builtin_ctz(rest), kUndefined);
}

void check_guard(Machine& m, Warp& w, uint32_t pc, uint32_t group) {
  const Inst& in = m.code[pc];
  const uint32_t unsure = word(w.shadow + in.guard) & group;
  if (unsure == 0) return;
  switch (in.op) {
    case Op::Alu:
    case Op::Divide:
    case Op::LoadGlobal:
    case Op::LoadShared:
    case Op::LoadOther:
    case Op::LoadParam:
    case Op::LoadFrame:
    case Op::StoreFrame:
    case Op::Nop:
      return;
    default:
      report_undefined(m, w, pc, __builtin_ctz(unsure),
                       in.op == Op::Branch ? "branches on an undefined value"
                                           : "decides by an undefined value whether to act");
  }
}

void clear_shadow(Warp& w, const MemOp& op, uint32_t mask) {
  for (int k = 0; k < op.count; ++k) clear(w.shadow, op.data[k], op.reg_width, mask);
}

void copy_shadow64(Warp& w, const Inst& in, uint32_t mask) {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    std::memcpy(w.shadow + in.args.dst[0] + lane * 8, w.shadow + in.args.src[0] + lane * 8, 8);
  }
}

}  // namespace kw::vgpu
