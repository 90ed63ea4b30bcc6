// A block waits for others when all its warps wait. It must yield then, or a spin lock would run
// forever. Three kinds of waiting are recognised. First, a warp whose strong polls of memory repeat
// (polling.h); this shows after a few instructions. Second, a warp that changed nothing in a slice
// and returns to the same pc with the same registers: a loop over a plain load. Third, a block
// whose warps pass barriers again and again while its state repeats. The last two compare hashes of
// states, which costs time, so they start late.
#include "vgpu/block_run.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "vgpu/barriers.h"
#include "vgpu/levels.h"
#include "vgpu/report.h"
#include "vgpu/scheduler.h"
#include "vgpu/taint.h"

namespace kw::vgpu {
namespace {

constexpr uint64_t kWarpSlice = 50000;     // instructions before another warp of the block runs
constexpr uint64_t kBlockSlice = 2000000;  // instructions before another block runs
constexpr uint64_t kShortest = 32;         // of both, where blocks and warps interrupt each other
constexpr int kLongestLoop = 1024;         // instructions of a waiting loop
constexpr uint64_t kQuietRounds = 1024;    // rounds without a change before states are compared

uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

bool ready(const Warp& w) {
  return std::any_of(w.groups, w.groups + w.group_count,
                     [](const LaneGroup& g) { return g.state == GroupState::Runnable; });
}

// Short slices are the most frequent; a few long ones let one block get far ahead.
uint64_t random_slice(Machine& m) { return kShortest << decide(m) % 8; }

// The group that ran last.
const LaneGroup& latest_group(const Warp& w) {
  return *std::max_element(
      w.groups, w.groups + w.group_count,
      [](const LaneGroup& a, const LaneGroup& b) { return a.last_run < b.last_run; });
}

bool looks_at_memory(Op op) {
  return op == Op::LoadGlobal || op == Op::LoadShared || op == Op::LoadOther || op == Op::Atomic;
}

}  // namespace

void permute(std::vector<uint32_t>& items, uint64_t seed, uint64_t salt) {
  if (seed == kReverseSeed) {
    std::ranges::reverse(items);
    return;
  }
  for (size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[mix(mix(seed ^ salt) ^ i) % i]);
}

uint64_t decide(Machine& m) { return mix(mix(m.launch.schedule_seed) ^ ++m.interrupts); }

void preempt(Machine& m, const Warp& w) {
  if (!m.launch.preempts || w.poll.repeats > 0 || decide(m) % 2 == 0) return;
  m.preempted = true;
  m.fuel = 0;  // ends the slice of the warp
}

BlockRun::State BlockRun::run() {
  enter();
  const bool preempts = m_.launch.preempts;
  const uint64_t share = preempts ? random_slice(m_) : kBlockSlice;
  std::vector<uint32_t> order(block_.warp_count);
  std::iota(order.begin(), order.end(), 0);
  if (m_.launch.schedule_seed != 0) permute(order, m_.launch.schedule_seed, block_.linear);
  for (;;) {
    bool any_worked = false;
    if (preempts) permute(order, m_.launch.schedule_seed, ++m_.interrupts);
    const bool any_ready = round(order, any_worked);
    if (m_.stop) return State::Stopped;
    const bool opened = open_ready(m_);
    if (!opened && !any_ready) {
      if (finished()) return State::Finished;
      if (!open_divergent(m_)) return State::Stopped;
    }
    idle_ = block_repeats_state() || (any_ready && !any_worked && !opened);
    if (std::exchange(m_.preempted, false))
      idle_ = false;
    else if (!idle_ && spent_ <= share)
      continue;
    return State::Yielded;
  }
}

void BlockRun::enter() {
  m_.block = &block_;
  ++block_.activations;
  block_.ordered_low = block_.ordered_high = m_.next_segment;
  block_.segment = 0;  // other blocks may have used numbers in the meantime
  outside_ = m_.outside;
  looks_ = m_.looks;
}

bool BlockRun::finished() const {
  return std::all_of(block_.warps, block_.warps + block_.warp_count,
                     [](const Warp& w) { return w.live == 0; });
}

// Runs every warp that can run. Returns false when none could.
bool BlockRun::round(const std::vector<uint32_t>& order, bool& any_worked) {
  bool any_ready = false;
  for (const uint32_t v : order) {
    Warp& w = block_.warps[v];
    if (!ready(w)) continue;
    any_ready = true;
    const WarpStop why = run_warp(w);
    if (m_.stop || m_.preempted) return true;
    any_worked = any_worked || why != WarpStop::Spin;
  }
  return any_ready;
}

WarpStop BlockRun::run_warp(Warp& w) {
  const uint64_t progress = m_.progress;
  uint64_t left = m_.launch.preempts ? random_slice(m_) : kWarpSlice;
  WarpStop why = WarpStop::Slice;
  w.spinning = false;
  // A warp that waits with patience keeps its turn.
  const auto stays = [&] {
    return why == WarpStop::Slice && w.poll.patience > 0 && !m_.preempted && !m_.stop &&
           m_.budget > 0;
  };
  do {
    const uint64_t before = w.executed;
    why = slice(w, left);
    left -= w.executed - before;
    if (stays()) left = kWarpSlice;
  } while (left > 0 && (why == WarpStop::Tainted || stays()));
  if (why == WarpStop::Slice && m_.progress == progress) {
    if (std::has_single_bit(++w.quiet_slices) && repeats_state(w)) why = WarpStop::Spin;
    if (why == WarpStop::Spin) w.quiet_slices = 0;
  } else {
    w.quiet_slices = 0;
  }
  check_limits(w);
  return why;
}

WarpStop BlockRun::slice(Warp& w, uint64_t fuel) {
  const WarpLoops& loops = warp_loops();
  m_.fuel = std::min(fuel, m_.budget);
  const uint64_t given = m_.fuel;
  if (w.tainted) end_taint_if_clean(m_, w);
  const WarpStop why = m_.counters != nullptr ? loops.counted(m_, w)
                       : w.tainted            ? loops.tainted(m_, w)
                                              : loops.checked(m_, w);
  // A slice may be ended by setting the fuel to 0; then it pays for instructions it did not run.
  const uint64_t used = given - m_.fuel, charged = std::exchange(m_.charged, 0);
  m_.executed += used;
  m_.budget -= std::min(m_.budget, used + charged);
  w.executed += used;
  spent_ += used;
  return why;
}

// Whether the warp returns to its current pc with the same registers after it read memory and
// changed none.
bool BlockRun::repeats_state(Warp& w) {
  if (w.group_count == 0 || m_.stop) return false;
  const uint32_t bytes = m_.launch.code->file_bytes;
  const uint32_t start = latest_group(w).pc;
  const uint64_t state = state_of(block_, w, bytes), progress = m_.progress;
  bool looked = false;
  for (int i = 0; i < kLongestLoop && m_.budget > 0; ++i) {
    looked = looked || looks_at_memory(m_.code[latest_group(w).pc].op);
    const WarpStop why = slice(w, 1);
    if (why != WarpStop::Slice || m_.progress != progress || m_.stop) return why == WarpStop::Spin;
    if (latest_group(w).pc == start && state_of(block_, w, bytes) == state) return looked;
  }
  return false;
}

// The same for the whole block, compared once per round of its warps.
bool BlockRun::block_repeats_state() {
  if (m_.outside != outside_ || quiet_rounds_ == 0) {
    outside_ = m_.outside;
    looks_ = m_.looks;
    quiet_rounds_ = 0;
    first_warp_.restart();
    whole_block_.restart();
  }
  if (++quiet_rounds_ < kQuietRounds || m_.looks == looks_) return false;
  const uint32_t bytes = m_.launch.code->file_bytes;
  // Most blocks that reach this point still work; comparing one warp shows that at less cost.
  if (!first_warp_.next(state_of(block_, block_.warps[0], bytes))) return false;
  return whole_block_.next(state_of(block_, bytes));
}

void BlockRun::check_limits(const Warp& w) {
  if (m_.stop) return;
  if (m_.cancelled != nullptr && m_.cancelled->load(std::memory_order_relaxed)) m_.stop = true;
  const bool over = m_.budget == 0;
  if (w.group_count == 0) return;
  const LaneGroup& group = latest_group(w);
  if (over) {
    report_fatal(m_, FindingKind::InstructionBudget,
                 actor(m_, w, __builtin_ctz(group.mask), group.pc), std::nullopt, [&] {
                   return fmt::format(
                       "still running after {} instructions of this warp ({} of the whole run)",
                       w.executed, m_.executed);
                 });
  } else if (m_.executed >= m_.next_clock_look) {
    // Reads the clock once per million instructions.
    m_.next_clock_look = m_.executed + 1000000;
    stop_if_late(m_, place_of(*m_.launch.code, group.pc).line);
  }
}

}  // namespace kw::vgpu
