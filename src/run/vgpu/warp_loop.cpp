// The interpreter's inner loop, compiled once per x86-64 level and for three modes: with checks,
// with undefined bits, with counters. A warp is a set of groups: lanes at the same instruction. The
// group with the lowest pc runs until it branches, waits, or reaches the pc of another group, which
// it then joins. So lanes that diverge at a branch converge where their paths meet, without any
// analysis of the control flow. Hardware uses convergence barriers of the compiler instead; PTX has
// none. A group that spins or has used its share lets another one run first. So a lock between
// lanes of one warp does not hang.
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "vgpu/collectives.h"
#include "vgpu/hot_global.h"
#include "vgpu/hot_shared.h"
#include "vgpu/levels.h"
#include "vgpu/slow_ops.h"

namespace kw::vgpu::KW_SIMD_LEVEL {
namespace {

enum class Mode { Checked, Tainted, Counted };

constexpr uint32_t kGroupShare = 20000;  // regroupings before another group may run
constexpr uint32_t kNoLimit = ~0u;

/// The group that runs now. It is removed from the warp's list.
struct Running {
  uint32_t pc = 0, mask = 0;
  uint32_t limit = kNoLimit;  // nearest higher pc of another group
};

// Takes the next group to run, joined with all groups at the same pc. Returns false when all wait.
bool take_group(Warp& w, Running& run) {
  int best = -1;
  for (uint32_t g = 0; g < w.group_count; ++g) {
    if (w.groups[g].state != GroupState::Runnable) continue;
    const bool better = best < 0 || (w.rotate ? w.groups[g].last_run < w.groups[best].last_run
                                              : w.groups[g].pc < w.groups[best].pc);
    if (better) best = static_cast<int>(g);
  }
  if (best < 0) return false;
  w.rotate = false;
  run.pc = w.groups[best].pc;
  run.mask = 0;
  run.limit = kNoLimit;
  uint32_t kept = 0;
  for (uint32_t g = 0; g < w.group_count; ++g) {
    const LaneGroup& group = w.groups[g];
    if (group.pc == run.pc && group.state != GroupState::Arrived) {
      run.mask |= group.mask;
      continue;
    }
    if (group.pc > run.pc && group.pc < run.limit && group.state != GroupState::Arrived)
      run.limit = group.pc;
    w.groups[kept++] = group;
  }
  w.group_count = kept;
  ++w.turn;
  return true;
}

KW_LANE void put_back(Warp& w, uint32_t pc, uint32_t mask, GroupState state) {
  if (mask == 0) return;
  w.groups[w.group_count++] = {pc, mask, w.turn, state};
}

/// Makes waiting groups check again, after a change.
KW_LANE void wake_waiting(Warp& w) {
  for (uint32_t g = 0; g < w.group_count; ++g) {
    if (w.groups[g].state != GroupState::Arrived) w.groups[g].state = GroupState::Runnable;
  }
}

KW_LANE void address_shift(std::byte* regs, const Inst& in, uint32_t mask, uint64_t window,
                           bool subtract) {
  const uint64_t shift = subtract ? 0 - window : window;
  U64* d = lanes64(regs, in.args.dst[0]);
  const U64* s = lanes64(regs, in.args.src[0]);
  for (int i = 0; i < kLanes; ++i) d[i] = (mask & kLaneBit64[i]) != 0 ? s[i] + shift : d[i];
}

/// A generic access whose first lane points into shared memory uses the shared window.
template <bool kStore, bool kTrack>
KW_LANE bool access_generic(Machine& m, Warp& w, uint32_t pc, const MemOp& op, uint32_t mask) {
  if (op.space != ptx::Space::Generic || !op.address64) return false;
  const uint64_t at =
      lanes64(w.regs, op.address)[first_lane(mask)] + static_cast<uint64_t>(op.offset);
  if (m.map.is_shared(at))
    return access_shared<kStore, kTrack>(m, w, pc, op, mask, m.map.window(kSharedRegion));
  return access_global<kStore, kTrack>(m, w, pc, op, mask);
}

/// Other threads may wait for a store, unless it is to local memory.
KW_LANE void note_store(Machine& m, Warp& w, Op kind, const MemOp& op, uint32_t mask) {
  uint32_t region = kSharedRegion;
  if (kind == Op::StoreOther)
    region = op.space == ptx::Space::Local || !op.address64
                 ? kLocalRegion
                 : m.map.region_of(lanes64(w.regs, op.address)[first_lane(mask)] +
                                   static_cast<uint64_t>(op.offset));
  m.progress += region != kLocalRegion ? 1 : 0;
  m.outside += kind == Op::StoreGlobal || region < kSharedRegion ? 1 : 0;
}

/// Whether the warp's shadow has no undefined bit in a register of `width` bytes per lane.
KW_LANE bool is_defined(const Warp& w, uint32_t slot, uint32_t width) {
  constexpr uint32_t kPart = 64;  // bytes of the narrowest register
#ifdef __AVX512F__
  __m512i any = _mm512_load_si512(w.shadow + slot);
  for (uint32_t at = kPart; at < width * kLanes; at += kPart)
    any = _mm512_or_si512(any, _mm512_load_si512(w.shadow + slot + at));
  return _mm512_test_epi64_mask(any, any) == 0;
#else
  uint64_t any = 0;
  for (uint32_t at = 0; at < width * kLanes; at += kPart) {
    const U64* bits = lanes64(w.shadow, slot + at);
    for (uint32_t i = 0; i < kPart / 8; ++i) any |= bits[i];
  }
  return any == 0;
#endif
}
KW_LANE bool is_defined(const Warp& w, uint32_t slot, const isa::Slot& form) {
  return form.width == 0 ? mask_at(w.shadow, slot) == 0 : is_defined(w, slot, form.width);
}

/// Whether the instruction reads defined registers only and writes over such, or does not run at
/// all. Then no undefined bit changes.
KW_LANE bool meets_defined(const Machine& m, const Warp& w, const Inst& in, uint32_t mask) {
  if (mask_at(w.shadow, in.guard) != 0) return false;
  if (mask == 0) return true;
  const isa::Alu& alu = m.alus[in.target];
  if ((alu.reads_carry || alu.writes_carry) && mask_at(w.shadow, in.args.carry) != 0) return false;
  for (int s = 0; s < alu.srcs; ++s) {
    if (!is_defined(w, in.args.src[s], alu.src[s])) return false;
  }
  for (int d = 0; d < alu.dsts; ++d) {
    if (!is_defined(w, in.args.dst[d], alu.dst[d])) return false;
  }
  return true;
}

/// Whether an access of a warp with a shadow uses defined registers only. Then it is like any other
/// warp's: the fast paths decline memory that is undefined.
KW_LANE bool uses_defined(const Warp& w, const MemOp& op) {
  bool defined = is_defined(w, op.address, op.address64 ? 8 : 4);
  for (int k = 0; defined && op.is_store && k < op.count; ++k)
    defined = is_defined(w, op.data[k], op.reg_width);
  return defined;
}

/// `follow`: its registers may hold undefined bits.
template <Mode kMode>
KW_LANE void memory(Machine& m, Warp& w, uint32_t pc, const Inst& in, uint32_t mask, bool follow) {
  const MemOp& op = m.mems[in.target];
  constexpr bool kTrack = kMode != Mode::Counted;
  if (kMode == Mode::Counted) KW_SIMD_LEVEL::count_access(m, w, pc, op, mask);
  bool done = false;
  if (!follow || uses_defined(w, op)) {
    switch (in.op) {
      case Op::LoadGlobal:
        done = access_global<false, kTrack>(m, w, pc, op, mask);
        break;
      case Op::StoreGlobal:
        done = access_global<true, kTrack>(m, w, pc, op, mask);
        break;
      case Op::LoadShared:
        done = access_shared<false, kTrack>(m, w, pc, op, mask, 0);
        break;
      case Op::StoreShared:
        done = access_shared<true, kTrack>(m, w, pc, op, mask, 0);
        break;
      case Op::LoadOther:
        done = access_generic<false, kTrack>(m, w, pc, op, mask);
        break;
      default:
        done = access_generic<true, kTrack>(m, w, pc, op, mask);
        break;
    }
  }
  if (!done)
    access_exact(m, w, pc, op, mask);
  else if (follow && !op.is_store)
    clear_shadow(w, op, mask);
  if (op.is_store) note_store(m, w, in.op, op, mask);
}

KW_LANE void load_param(Machine& m, Warp& w, const MemOp& op, uint32_t mask) {
  alignas(64) uint32_t zero[kLanes] = {};
  op.lanes(w.regs, op, const_cast<std::byte*>(m.params) + op.offset, zero, mask);
}

KW_LANE void frame_access(Warp& w, const MemOp& op, uint32_t mask, bool tainted) {
  alignas(64) uint32_t offsets[kLanes];
  for (int i = 0; i < kLanes; ++i) offsets[i] = static_cast<uint32_t>(i * op.offset);
  op.lanes(w.regs, op, w.regs + op.address, offsets, mask);
  if (tainted) op.lanes(w.shadow, op, w.shadow + op.address, offsets, mask);
}

/// The source lanes of one kind of shuffle. Returns which are inside the reader's segment.
template <ShuffleMode kShuffle>
KW_LANE uint32_t shuffle_sources(const U32* b, const U32* c, uint32_t* from) {
  uint32_t inside = 0;
  for (int i = 0; i < kLanes; ++i) {
    const int clamp = c[i] & 31, segment = (c[i] >> 8) & 31, lane = b[i] & 31;
    const int top = (i & segment) | (clamp & ~segment);
    const int source = kShuffle == ShuffleMode::Up          ? i - lane
                       : kShuffle == ShuffleMode::Down      ? i + lane
                       : kShuffle == ShuffleMode::Butterfly ? i ^ lane
                                                            : (i & segment) | (lane & ~segment);
    const bool ok = kShuffle == ShuffleMode::Up ? source >= top : source <= top;
    from[i] = static_cast<uint32_t>(ok ? source : i);
    inside |= ok ? kLaneBit[i] : 0;
  }
  return inside;
}

KW_LANE void permute_lanes(U32* d, const U32* a, const uint32_t* from) {
#ifdef __AVX512F__
  const __m512i low = _mm512_load_si512(a), high = _mm512_load_si512(a + 16);
  const __m512i first = _mm512_permutex2var_epi32(low, _mm512_load_si512(from), high);
  const __m512i second = _mm512_permutex2var_epi32(low, _mm512_load_si512(from + 16), high);
  _mm512_store_si512(d, first);
  _mm512_store_si512(d + 16, second);
#else
  alignas(64) uint32_t value[kLanes];
  for (int i = 0; i < kLanes; ++i) value[i] = a[from[i]];
  for (int i = 0; i < kLanes; ++i) d[i] = value[i];
#endif
}

/// A shuffle in which all 32 lanes take part, so every source lane exists.
KW_LANE bool shuffle_whole_warp(Warp& w, const Inst& in) {
  std::byte* regs = w.regs;
  const U32* members = lanes32(regs, in.args.src[3]);
  const U32* b = lanes32(regs, in.args.src[1]);
  const U32* c = lanes32(regs, in.args.src[2]);
  uint32_t partial = 0;
  for (int i = 0; i < kLanes; ++i) partial |= ~members[i];
  if (partial != 0) return false;
  alignas(64) uint32_t from[kLanes];
  uint32_t inside = 0;
  switch (static_cast<ShuffleMode>(in.sub)) {
    case ShuffleMode::Up:
      inside = shuffle_sources<ShuffleMode::Up>(b, c, from);
      break;
    case ShuffleMode::Down:
      inside = shuffle_sources<ShuffleMode::Down>(b, c, from);
      break;
    case ShuffleMode::Butterfly:
      inside = shuffle_sources<ShuffleMode::Butterfly>(b, c, from);
      break;
    case ShuffleMode::Index:
      inside = shuffle_sources<ShuffleMode::Index>(b, c, from);
      break;
  }
  permute_lanes(lanes32(regs, in.args.dst[0]), lanes32(regs, in.args.src[0]), from);
  if ((in.flags & kFlagSecondDst) != 0) mask_at(regs, in.args.dst[1]) = inside;
  return true;
}

/// The same for a warp with a shadow; false also if a source is undefined.
KW_LANE bool shuffle_defined(Warp& w, const Inst& in) {
  for (int s = 0; s < 4; ++s) {
    if (!is_defined(w, in.args.src[s], 4)) return false;
  }
  if (!shuffle_whole_warp(w, in)) return false;
  U32* bits = lanes32(w.shadow, in.args.dst[0]);
  for (int i = 0; i < kLanes; ++i) bits[i] = 0;
  if ((in.flags & kFlagSecondDst) != 0) mask_at(w.shadow, in.args.dst[1]) = 0;
  return true;
}

template <Mode kMode>
class Loop {
 public:
  Loop(Machine& m, Warp& w) : m_(m), w_(w) {}

  WarpStop run() {
    if (!take_group(w_, run_)) return idle();
    share_ = kGroupShare;
    for (;;) {
      if (run_.pc >= run_.limit || m_.fuel == 0) {
        if (m_.fuel == 0) return leave(WarpStop::Slice);
        if (!regroup()) return idle();
      }
      --m_.fuel;
      const Inst& in = m_.code[run_.pc];
      const uint32_t mask = run_.mask & (mask_at(w_.regs, in.guard) ^ in.guard_flip);
      if (kMode == Mode::Counted) KW_SIMD_LEVEL::count_instruction(m_, run_.pc, run_.mask, mask);
      const bool follow =
          kMode == Mode::Tainted && (w_.follows_all || (in.flags & kFlagDefined) == 0);
      if (follow && in.guard != 0) check_guard(m_, w_, run_.pc, run_.mask);
      if (in.op == Op::Alu) {
        if (follow && !meets_defined(m_, w_, in, mask))
          taint_alu(m_, w_, run_.pc, mask, run_.mask);
        in.fn(w_.regs, in.args, mask);
        ++run_.pc;
        continue;
      }
      const Step step = other(in, mask, follow);
      if (step == Step::Next) {
        ++run_.pc;
      } else if (step == Step::Regroup) {
        if (!regroup()) return idle();
      } else if (step == Step::WarpStop) {
        return leave(WarpStop::Slice);
      } else if (step == Step::Gone) {
        if (!take_group(w_, run_)) return idle();
      }
      if (m_.stop) return leave(WarpStop::Stop);
      if (kMode == Mode::Checked && w_.tainted) return leave(WarpStop::Tainted);
      if (w_.spinning) return spin();
    }
  }

 private:
  enum class Step {
    Next,     // continue with the next instruction
    Stay,     // pc is set
    Regroup,  // pc and mask are set, groups may have changed
    Gone,     // the running group has no runnable lanes left
    WarpStop,
  };

  WarpStop leave(WarpStop why) {
    put_back(w_, run_.pc, run_.mask, GroupState::Runnable);
    return why;
  }
  WarpStop idle() { return w_.live == 0 ? WarpStop::Done : WarpStop::Blocked; }

  // Other lanes of this warp may have to run before the wait ends.
  WarpStop spin() {
    w_.rotate = true;
    return leave(WarpStop::Spin);
  }

  bool regroup() {
    put_back(w_, run_.pc, run_.mask, GroupState::Runnable);
    if (w_.group_count > 1 && --share_ == 0) {
      w_.rotate = true;
      share_ = kGroupShare;
    }
    return take_group(w_, run_);
  }

  Step branch(const Inst& in, uint32_t taken) {
    m_.ways[run_.pc] |= static_cast<uint8_t>((taken != 0 ? 1 : 0) | (taken != run_.mask ? 2 : 0));
    if (taken == run_.mask) {
      run_.pc = in.target;
      return w_.group_count == 0 ? Step::Stay : Step::Regroup;
    }
    if (taken == 0) return Step::Next;
    put_back(w_, in.target, taken, GroupState::Runnable);
    run_.mask &= ~taken;
    ++run_.pc;
    return Step::Regroup;
  }

  // `mask` has left (exited, called, returned, waits); the other lanes continue.
  Step without(uint32_t mask) {
    run_.mask &= ~mask;
    if (run_.mask == 0) return Step::Gone;
    ++run_.pc;
    return Step::Regroup;
  }

  Step collective(const Inst& in, uint32_t mask, bool follow) {
    if (mask == 0) return Step::Next;
    if (in.op == Op::Shuffle && mask == ~0u && (in.flags & kFlagHasMask) != 0 &&
        (follow ? shuffle_defined(w_, in) : shuffle_whole_warp(w_, in)))
      return Step::Next;
    const uint32_t done = run_collective(m_, w_, run_.pc, mask);
    const uint32_t waiting = mask & ~done;
    if (waiting == 0) return Step::Next;
    put_back(w_, run_.pc, waiting, GroupState::Collective);
    return without(waiting);
  }

  Step barrier(uint32_t mask) {
    if (mask == 0) return Step::Next;
    const GroupState state = arrive(m_, w_, run_.pc, mask);
    if (state == GroupState::Runnable) return Step::Next;  // arrived without waiting
    put_back(w_, run_.pc, mask, state);
    return without(mask);
  }

  Step divide(const Inst& in, uint32_t mask, bool follow) {
    if (follow) taint_alu(m_, w_, run_.pc, mask, run_.mask);
    const uint32_t by_zero =
        kMode == Mode::Counted ? 0 : zero_lanes(w_, in, m_.alus[in.target], mask);
    in.fn(w_.regs, in.args, mask);
    if (by_zero != 0) undefine_quotient(m_, w_, run_.pc, by_zero);
    return Step::Next;
  }

  Step other(const Inst& in, uint32_t mask, bool follow) {
    switch (in.op) {
      case Op::LoadGlobal:
      case Op::StoreGlobal:
      case Op::LoadShared:
      case Op::StoreShared:
      case Op::LoadOther:
      case Op::StoreOther:
        if (mask != 0) memory<kMode>(m_, w_, run_.pc, in, mask, follow);
        return Step::Next;
      case Op::Divide:
        return divide(in, mask, follow);
      case Op::Branch:
        return branch(in, mask);
      case Op::Barrier:
        return barrier(mask);
      case Op::Shuffle:
      case Op::Vote:
      case Op::Match:
      case Op::Redux:
      case Op::Elect:
      case Op::WarpSync:
        return collective(in, mask, follow);
      default:
        return mask == 0 ? Step::Next : rare(in, mask, follow);
    }
  }

  Step rare(const Inst& in, uint32_t mask, bool follow) {
    switch (in.op) {
      case Op::LoadParam:
        load_param(m_, w_, m_.mems[in.target], mask);
        if (follow) clear_shadow(w_, m_.mems[in.target], mask);
        return Step::Next;
      case Op::LoadFrame:
      case Op::StoreFrame:
        frame_access(w_, m_.mems[in.target], mask, kMode == Mode::Tainted);
        return Step::Next;
      case Op::AddressToWindow:
      case Op::AddressFromWindow:
        address_shift(w_.regs, in, mask, m_.map.window(in.args.src[1]),
                      in.op == Op::AddressFromWindow);
        if (kMode == Mode::Tainted) copy_shadow64(w_, in, mask);
        return Step::Next;
      case Op::Atomic:
        if (kMode == Mode::Counted) KW_SIMD_LEVEL::count_atomic(m_, w_, run_.pc, mask);
        run_atomic(m_, w_, run_.pc, mask);
        return Step::Next;
      case Op::Call:
      case Op::CallIndirect:
      case Op::Return:
      case Op::BranchIndexed: {
        // move_lanes puts these lanes into groups; the others continue.
        move_lanes(m_, w_, run_.pc, mask);
        return without(mask);
      }
      case Op::TensorLoad:
      case Op::TensorStore:
      case Op::TensorMma:
      case Op::GroupMma:
      case Op::GroupCommit:
      case Op::GroupWait:
        if (mask != w_.live) {  // the rest of the warp must arrive
          put_back(w_, run_.pc, mask, GroupState::Collective);
          return without(mask);
        }
        slow_op(m_, w_, run_.pc, mask);
        return Step::Next;
      case Op::Exit:
        w_.live &= ~mask;
        w_.exit_pc = run_.pc;
        ++m_.progress;
        exit_lanes(m_, w_);
        wake_waiting(w_);
        return without(mask);
      default:
        slow_op(m_, w_, run_.pc, mask);
        return Step::Next;
    }
  }

  Machine& m_;
  Warp& w_;
  Running run_;
  uint32_t share_ = 0;
};

}  // namespace

WarpStop run_checked(Machine& m, Warp& w) { return Loop<Mode::Checked>(m, w).run(); }
WarpStop run_tainted(Machine& m, Warp& w) { return Loop<Mode::Tainted>(m, w).run(); }
WarpStop run_counted(Machine& m, Warp& w) { return Loop<Mode::Counted>(m, w).run(); }

}  // namespace kw::vgpu::KW_SIMD_LEVEL
