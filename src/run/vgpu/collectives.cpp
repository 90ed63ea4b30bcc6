// Collectives name their partners in a mask, and the lanes may arrive at different times. So a
// collective runs only for lanes whose named live partners are all at the same instruction; the
// others wait as a group of their own. Lanes with different masks execute as separate sets. A wrong
// mask is a finding, not a failure: hardware executes it as well. A shuffle from a lane that does
// not take part gives an undefined value, which is reported only if it is used. The alternative,
// reporting it at once, would flag the upper lanes of every usual reduction.
#include "vgpu/collectives.h"

#include <fmt/core.h>

#include "vgpu/lane_values.h"
#include "vgpu/machine.h"
#include "vgpu/ordering.h"
#include "vgpu/report.h"
#include "vgpu/taint.h"

namespace kw::vgpu {
namespace {

uint32_t get_mask(const std::byte* file, uint32_t slot) { return get<uint32_t>(file, slot, 0); }
void put_mask(std::byte* file, uint32_t slot, uint32_t value, uint32_t lanes) {
  put<uint32_t>(file, slot, 0, (get_mask(file, slot) & ~lanes) | (value & lanes));
}

/// The lanes that execute one collective together.
struct Party {
  Machine& m;
  Warp& w;
  const Inst& in;
  uint32_t pc;
  uint32_t lanes;
  bool tainted() const { return w.tainted; }
};

void set_undefined32(const Party& p, uint32_t slot, int lane, uint32_t bits) {
  if (p.tainted()) put<uint32_t>(p.w.shadow, slot, lane, bits);
}
void set_undefined_mask(const Party& p, uint32_t slot, uint32_t value) {
  if (p.tainted()) put_mask(p.w.shadow, slot, value, p.lanes);
}

// The lane that a shuffle reads from. Returns whether it is inside the segment.
bool shuffle_source(ShuffleMode mode, int lane, uint32_t b, uint32_t c, int& from) {
  const int clamp = c & 31, segment = (c >> 8) & 31, value = b & 31;
  const int top = (lane & segment) | (clamp & ~segment);
  bool ok = false;
  switch (mode) {
    case ShuffleMode::Up:
      from = lane - value;
      ok = from >= top;
      break;
    case ShuffleMode::Down:
      from = lane + value;
      ok = from <= top;
      break;
    case ShuffleMode::Butterfly:
      from = lane ^ value;
      ok = from <= top;
      break;
    case ShuffleMode::Index:
      from = (lane & segment) | (value & ~segment);
      ok = from <= top;
      break;
  }
  if (!ok) from = lane;
  return ok;
}

void shuffle(const Party& p) {
  uint32_t value[kLanes] = {}, bits[kLanes] = {}, inside = 0;
  each_lane(p.lanes, [&](int lane) {
    int from = lane;
    const uint32_t b = get<uint32_t>(p.w.regs, p.in.args.src[1], lane);
    const uint32_t c = get<uint32_t>(p.w.regs, p.in.args.src[2], lane);
    if (shuffle_source(static_cast<ShuffleMode>(p.in.sub), lane, b, c, from)) inside |= 1u << lane;
    if ((p.lanes >> from & 1) == 0) {
      // An undefined value. It does no harm if it is unused, as in the upper lanes of a reduction.
      if (p.m.counters == nullptr) begin_inactive_lane(p.m, p.w, p.pc, lane, from);
      bits[lane] = ~0u;
      return;
    }
    value[lane] = get<uint32_t>(p.w.regs, p.in.args.src[0], from);
    if (p.tainted()) {
      bits[lane] = get<uint32_t>(p.w.shadow, p.in.args.src[0], from);
      if (get<uint32_t>(p.w.shadow, p.in.args.src[1], lane) != 0) bits[lane] = ~0u;
    }
  });
  each_lane(p.lanes, [&](int lane) {
    put<uint32_t>(p.w.regs, p.in.args.dst[0], lane, value[lane]);
    set_undefined32(p, p.in.args.dst[0], lane, bits[lane]);
  });
  if ((p.in.flags & kFlagSecondDst) == 0) return;
  put_mask(p.w.regs, p.in.args.dst[1], inside, p.lanes);
  set_undefined_mask(p, p.in.args.dst[1], 0);
}

void vote(const Party& p) {
  uint32_t truth = get_mask(p.w.regs, p.in.args.src[0]);
  if ((p.in.flags & kFlagNegate) != 0) truth = ~truth;
  const uint32_t yes = truth & p.lanes;
  const uint32_t unknown = p.tainted() ? get_mask(p.w.shadow, p.in.args.src[0]) & p.lanes : 0;
  bool result = false;
  switch (static_cast<VoteMode>(p.in.sub)) {
    case VoteMode::Ballot:
      each_lane(p.lanes, [&](int lane) {
        put<uint32_t>(p.w.regs, p.in.args.dst[0], lane, yes);
        set_undefined32(p, p.in.args.dst[0], lane, unknown);
      });
      return;
    case VoteMode::All:
      result = yes == p.lanes;
      break;
    case VoteMode::Any:
      result = yes != 0;
      break;
    case VoteMode::Uni:
      result = yes == 0 || yes == p.lanes;
      break;
  }
  put_mask(p.w.regs, p.in.args.dst[0], result ? p.lanes : 0, p.lanes);
  set_undefined_mask(p, p.in.args.dst[0], unknown != 0 ? p.lanes : 0);
}

uint64_t match_value(const Party& p, int lane) {
  return (p.in.flags & kFlagWide) != 0 ? get<uint64_t>(p.w.regs, p.in.args.src[0], lane)
                                       : get<uint32_t>(p.w.regs, p.in.args.src[0], lane);
}

bool any_undefined(const Party& p, int width) {
  if (!p.tainted()) return false;
  bool found = false;
  each_lane(p.lanes, [&](int lane) {
    const uint64_t bits = width == 8 ? get<uint64_t>(p.w.shadow, p.in.args.src[0], lane)
                                     : get<uint32_t>(p.w.shadow, p.in.args.src[0], lane);
    found = found || bits != 0;
  });
  return found;
}

void match(const Party& p) {
  const uint32_t unknown = any_undefined(p, (p.in.flags & kFlagWide) != 0 ? 8 : 4) ? ~0u : 0;
  uint32_t equal[kLanes] = {};
  bool all_equal = true;
  each_lane(p.lanes, [&](int lane) {
    each_lane(p.lanes, [&](int other) {
      if (match_value(p, lane) == match_value(p, other)) equal[lane] |= 1u << other;
    });
    all_equal = all_equal && equal[lane] == p.lanes;
  });
  const bool any_mode = static_cast<MatchMode>(p.in.sub) == MatchMode::Any;
  each_lane(p.lanes, [&](int lane) {
    const uint32_t result = any_mode ? equal[lane] : all_equal ? p.lanes : 0;
    put<uint32_t>(p.w.regs, p.in.args.dst[0], lane, result);
    set_undefined32(p, p.in.args.dst[0], lane, unknown);
  });
  if ((p.in.flags & kFlagSecondDst) == 0) return;
  put_mask(p.w.regs, p.in.args.dst[1], all_equal ? p.lanes : 0, p.lanes);
  set_undefined_mask(p, p.in.args.dst[1], unknown);
}

void redux(const Party& p) {
  const bool is_signed = (p.in.flags & kFlagSigned) != 0;
  const auto op = static_cast<ReduxOp>(p.in.sub);
  const uint32_t unknown = any_undefined(p, 4) ? ~0u : 0;
  uint32_t result = 0;
  bool first = true;
  each_lane(p.lanes, [&](int lane) {
    const uint32_t v = get<uint32_t>(p.w.regs, p.in.args.src[0], lane);
    const bool less =
        is_signed ? static_cast<int32_t>(v) < static_cast<int32_t>(result) : v < result;
    if (first)
      result = v;
    else if (op == ReduxOp::Add)
      result += v;
    else if (op == ReduxOp::Min)
      result = less ? v : result;
    else if (op == ReduxOp::Max)
      result = less ? result : v;
    else if (op == ReduxOp::And)
      result &= v;
    else if (op == ReduxOp::Or)
      result |= v;
    else
      result ^= v;
    first = false;
  });
  each_lane(p.lanes, [&](int lane) {
    put<uint32_t>(p.w.regs, p.in.args.dst[0], lane, result);
    set_undefined32(p, p.in.args.dst[0], lane, unknown);
  });
}

void elect(const Party& p) {
  const int leader = __builtin_ctz(p.lanes);
  each_lane(p.lanes, [&](int lane) {
    put<uint32_t>(p.w.regs, p.in.args.dst[0], lane, static_cast<uint32_t>(leader));
    set_undefined32(p, p.in.args.dst[0], lane, 0);
  });
  put_mask(p.w.regs, p.in.args.dst[1], 1u << leader, p.lanes);
  set_undefined_mask(p, p.in.args.dst[1], 0);
}

void execute(const Party& p) {
  switch (p.in.op) {
    case Op::Shuffle:
      shuffle(p);
      break;
    case Op::Vote:
      vote(p);
      break;
    case Op::Match:
      match(p);
      break;
    case Op::Redux:
      redux(p);
      break;
    case Op::Elect:
      elect(p);
      break;
    default:
      // Only __syncwarp() orders memory. ptxas moves loads and stores across the others.
      if (p.m.counters == nullptr) sync_warp(p.m, p.w, p.lanes);
      break;
  }
}

void check_members(Machine& m, const Warp& w, uint32_t pc, uint32_t lanes, uint32_t members) {
  const uint32_t strangers = lanes & ~members, absent = members & ~w.live;
  if (strangers != 0) {
    const int lane = __builtin_ctz(strangers);
    report(m, FindingKind::BadCollectiveMask, Certainty::Certain, actor(m, w, lane, pc), {},
           std::nullopt, [&] {
             return fmt::format("lane {} calls with mask {:#010x}, which does not name it", lane,
                                members);
           });
  } else if (absent != 0) {
    const Actor who = actor(m, w, __builtin_ctz(lanes), pc);
    report(m, FindingKind::BadCollectiveMask, Certainty::Warning, who, {}, std::nullopt, [&] {
      return fmt::format("mask {:#010x} names {} lanes that {} (first: lane {})", members,
                         __builtin_popcount(absent),
                         (absent & w.present) != 0 ? "have exited" : "do not exist in this block",
                         __builtin_ctz(absent));
    });
  }
}

}  // namespace

uint32_t run_collective(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  const Inst& in = m.code[pc];
  if ((in.flags & kFlagHasMask) == 0) {  // forms before .sync: the lanes that are here
    execute({m, w, in, pc, mask});
    return mask;
  }
  uint32_t done = 0;
  for (uint32_t rest = mask; rest != 0;) {
    const int lane = __builtin_ctz(rest);
    const uint32_t members = get<uint32_t>(w.regs, in.args.src[3], lane);
    uint32_t same = 0;
    each_lane(rest, [&](int other) {
      if (get<uint32_t>(w.regs, in.args.src[3], other) == members) same |= 1u << other;
    });
    rest &= ~same;
    if ((members & w.live & ~same) != 0) continue;  // a named lane has not arrived yet
    check_members(m, w, pc, same, members);
    if (w.tainted && get<uint32_t>(w.shadow, in.args.src[3], lane) != 0)
      report_undefined(m, w, pc, lane, "uses an undefined value as the mask of a collective");
    execute({m, w, in, pc, same});
    done |= same;
  }
  return done;
}

void report_collective_deadlock(Machine& m, const Warp& w, const LaneGroup& group) {
  const int lane = __builtin_ctz(group.mask);
  const Inst& in = m.code[group.pc];
  const bool named = (in.flags & kFlagHasMask) != 0;  // matrix instructions need the whole warp
  const uint32_t members = named ? get<uint32_t>(w.regs, in.args.src[3], lane) : ~0u;
  const uint32_t missing = members & w.live & ~group.mask;
  std::optional<Actor> other;
  for (uint32_t g = 0; g < w.group_count; ++g) {
    if ((w.groups[g].mask & missing) != 0)
      other = actor(m, w, __builtin_ctz(w.groups[g].mask & missing), w.groups[g].pc);
  }
  report_fatal(m, FindingKind::CollectiveDeadlock, actor(m, w, lane, group.pc), other, [&] {
    const int line = other ? place_of(*m.launch.code, other->pc).line : 0;
    return fmt::format(
        "lanes {:#010x} wait for lanes {:#010x} named in mask {:#010x}, which wait at line {}",
        group.mask, missing, members, line);
  });
}

}  // namespace kw::vgpu
