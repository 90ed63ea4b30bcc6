// Calls, returns, indexed branches, and the rare instructions that only continue with the next one.
// A call does not use a host stack: each function has its own slots in the register file, and one
// slot holds the return pc per lane. So lanes may call different functions and return at different
// times. Lanes that continue at the same pc become one group. The cost is that recursion must save
// slots explicitly (recursion.h).
#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "vgpu/address.h"
#include "vgpu/async_copy.h"
#include "vgpu/group_products.h"
#include "vgpu/lane_values.h"
#include "vgpu/ordering.h"
#include "vgpu/polling.h"
#include "vgpu/print.h"
#include "vgpu/recursion.h"
#include "vgpu/report.h"
#include "vgpu/slow_ops.h"
#include "vgpu/taint.h"
#include "vgpu/tensor_ops.h"

namespace kw::vgpu {
namespace {

void put_group(Warp& w, uint32_t pc, uint32_t mask) {
  if (mask != 0) w.groups[w.group_count++] = {pc, mask, w.turn, GroupState::Runnable};
}

// Lanes that continue at the same pc become one group.
void scatter(Warp& w, const uint32_t* places, uint32_t mask) {
  while (mask != 0) {
    const uint32_t place = places[__builtin_ctz(mask)];
    uint32_t same = 0;
    each_lane(mask, [&](int lane) { same |= places[lane] == place ? 1u << lane : 0; });
    put_group(w, place, same);
    mask &= ~same;
  }
}

void copy_frames(Warp& w, const std::vector<FrameCopy>& copies, uint32_t mask) {
  for (const FrameCopy& copy : copies) {
    const uint32_t bytes = std::min(copy.from_bytes, copy.to_bytes);
    each_lane(mask, [&](int lane) {
      const uint32_t from = copy.from + static_cast<uint32_t>(lane) * copy.from_bytes;
      const uint32_t to = copy.to + static_cast<uint32_t>(lane) * copy.to_bytes;
      std::memcpy(w.regs + to, w.regs + from, bytes);
      if (w.tainted) std::memcpy(w.shadow + to, w.shadow + from, bytes);
    });
  }
}

void enter(Machine& m, Warp& w, uint32_t pc, const CallInst& call, uint32_t mask) {
  if (call.save >= 0) save_frame(m, w, pc, m.launch.code->frames[call.save], mask);
  copy_frames(w, call.copies, mask);
  each_lane(mask, [&](int lane) {
    const uint32_t back = pc + 1;
    std::memcpy(w.regs + call.return_slot + lane * 4, &back, 4);
  });
  put_group(w, call.pc, mask);
}

void call_indirect(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  const IndirectCall& call = m.launch.code->indirect_calls[m.code[pc].target];
  each_lane(w.tainted ? mask : 0, [&](int lane) {
    if (get<uint64_t>(w.shadow, call.address, lane) != 0)
      report_undefined(m, w, pc, lane, "calls through an undefined value");
  });
  for (uint32_t t = 0; t < call.targets.size(); ++t) {
    uint32_t chosen = 0;
    const uint64_t target = m.map.function_address(call.targets[t].call.function);
    each_lane(mask, [&](int lane) {
      if (get<uint64_t>(w.regs, call.address, lane) != target) return;
      chosen |= 1u << lane;
      std::memcpy(w.regs + call.chosen + lane * 4, &t, 4);
    });
    if (chosen != 0) enter(m, w, pc, call.targets[t].call, chosen);
    mask &= ~chosen;
  }
  if (mask == 0) return;
  const int lane = __builtin_ctz(mask);
  report_fatal(m, FindingKind::InvalidAddress, actor(m, w, lane, pc), std::nullopt, [&] {
    return fmt::format("calls through {:#x}, which is not a function of that type",
                       get<uint64_t>(w.regs, call.address, lane));
  });
  put_group(w, pc + 1, mask);
}

void copy_indirect_results(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  const IndirectCall& call = m.launch.code->indirect_calls[m.code[pc].target];
  for (uint32_t t = 0; t < call.targets.size(); ++t) {
    uint32_t chosen = 0;
    each_lane(mask, [&](int lane) {
      chosen |= get<uint32_t>(w.regs, call.chosen, lane) == t ? 1u << lane : 0;
    });
    copy_frames(w, call.targets[t].returns, chosen);
  }
}

void branch_indexed(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  const Inst& in = m.code[pc];
  const std::vector<uint32_t>& table = m.launch.code->branch_tables[in.target];
  uint32_t places[kLanes] = {};
  each_lane(mask, [&](int lane) {
    const uint32_t index = get<uint32_t>(w.regs, in.args.src[0], lane);
    places[lane] = index < table.size() ? table[index] : table.front();
    if (w.tainted && get<uint32_t>(w.shadow, in.args.src[0], lane) != 0)
      report_undefined(m, w, pc, lane, "branches on an undefined value");
    if (index >= table.size()) {
      report_fatal(m, FindingKind::InvalidAddress, actor(m, w, lane, pc), std::nullopt, [&] {
        return fmt::format("branches to entry {} of a table of {}", index, table.size());
      });
    }
  });
  scatter(w, places, mask);
}

void return_lanes(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  uint32_t places[kLanes] = {};
  if (m.code[pc].args.aux != 0) leave_frame(m, w, m.code[pc].args.aux, mask);
  each_lane(mask,
            [&](int lane) { places[lane] = get<uint32_t>(w.regs, m.code[pc].args.src[0], lane); });
  scatter(w, places, mask);
}

// Counts time in instructions from a start that differs from run to run. It advances with every
// read.
void read_clock(Machine& m, Warp& w, const Inst& in, uint32_t mask) {
  const uint64_t ticks = (m.launch.chance >> 4) + m.executed + w.executed + ++m.clock;
  uint64_t value = ticks;
  const auto special = static_cast<ptx::Special>(in.sub);
  if (special == ptx::Special::ClockHi || special == ptx::Special::GlobalTimerHi)
    value = ticks >> 32;
  each_lane(mask, [&](int lane) {
    std::memcpy(w.regs + in.args.dst[0] + lane * in.flags, &value, in.flags);
  });
}

void is_space(Machine& m, Warp& w, const Inst& in, uint32_t mask) {
  uint32_t truth = 0;
  each_lane(mask, [&](int lane) {
    const uint32_t region = m.map.region_of(get<uint64_t>(w.regs, in.args.src[0], lane));
    const bool object = region < m.region_count && m.regions[region].data != nullptr;
    bool yes = false;
    switch (static_cast<ptx::Space>(in.sub)) {
      case ptx::Space::Shared:
        yes = region == kSharedRegion;
        break;
      case ptx::Space::Local:
        yes = region == kLocalRegion;
        break;
      case ptx::Space::Param:
        yes = region == kParamRegion;
        break;
      case ptx::Space::Const:
        yes = object && m.regions[region].constant;
        break;
      default:
        yes = object && !m.regions[region].constant;
        break;
    }
    truth |= yes ? 1u << lane : 0;
  });
  uint32_t value = get<uint32_t>(w.regs, in.args.dst[0], 0);
  value = (value & ~mask) | truth;
  std::memcpy(w.regs + in.args.dst[0], &value, 4);
  if (!w.tainted) return;
  uint32_t bits = get<uint32_t>(w.shadow, in.args.dst[0], 0) & ~mask;
  each_lane(mask, [&](int lane) {
    bits |= get<uint64_t>(w.shadow, in.args.src[0], lane) != 0 ? 1u << lane : 0;
  });
  std::memcpy(w.shadow + in.args.dst[0], &bits, 4);
}

void active_mask(Warp& w, const Inst& in, uint32_t mask) {
  each_lane(mask, [&](int lane) {
    std::memcpy(w.regs + in.args.dst[0] + lane * 4, &mask, 4);
    if (w.tainted) std::memset(w.shadow + in.args.dst[0] + lane * 4, 0, 4);
  });
}

// What happens to the registers of a function when it is entered or has returned.
void frame_op(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  const Inst& in = m.code[pc];
  const Code& code = *m.launch.code;
  switch (in.op) {
    case Op::CopyFrames:
      return copy_frames(w, code.frame_copies[in.target], mask);
    case Op::Undefine:
      return undefine_registers(m, w, pc, code.undefined[in.target], mask);
    case Op::EnterFrame:
      return enter_frame(m, w, pc, code.frames[in.target], mask);
    case Op::RestoreFrame:
      return restore_frame(m, w, code.frames[in.target], mask);
    default:
      return copy_indirect_results(m, w, pc, mask);
  }
}

}  // namespace

void move_lanes(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  const Inst& in = m.code[pc];
  switch (in.op) {
    case Op::Call:
      return enter(m, w, pc, m.launch.code->calls[in.target], mask);
    case Op::CallIndirect:
      return call_indirect(m, w, pc, mask);
    case Op::Return:
      return return_lanes(m, w, pc, mask);
    default:
      return branch_indexed(m, w, pc, mask);
  }
}

void slow_op(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  const Inst& in = m.code[pc];
  switch (in.op) {
    case Op::CopyFrames:
    case Op::Undefine:
    case Op::EnterFrame:
    case Op::RestoreFrame:
    case Op::CopyIndirectFrames:
      return frame_op(m, w, pc, mask);
    case Op::IsSpace:
      return is_space(m, w, in, mask);
    case Op::Fence:
      if (m.counters == nullptr)
        fence(m, w, mask, in.sub != 0 ? MemoryScope::Device : MemoryScope::Block);
      break;
    case Op::Nanosleep:
      return poll_sleep(m, w, pc);
    case Op::ActiveMask:
      return active_mask(w, in, mask);
    case Op::ReadClock:
      return read_clock(m, w, in, mask);
    case Op::Print:
      return print_lanes(m, w, pc, mask);
    case Op::AssertFail:
      return assert_fail(m, w, pc, mask);
    case Op::Trap:
      return report_fatal(m, FindingKind::Trap, actor(m, w, __builtin_ctz(mask), pc), std::nullopt,
                          [] { return std::string("executes a trap"); });
    case Op::AsyncCopy:
      return async_copy(m, w, pc, mask);
    case Op::AsyncCommit:
      return async_commit(m, w, mask);
    case Op::AsyncWait:
      return async_wait(m, w, pc, mask);
    case Op::TensorLoad:
    case Op::TensorStore:
    case Op::TensorMma:
      return run_tensor(m, w, pc, mask);
    case Op::GroupMma:
    case Op::GroupCommit:
    case Op::GroupWait:
      return run_group_product(m, w, pc, mask);
    default:
      break;
  }
}

}  // namespace kw::vgpu
