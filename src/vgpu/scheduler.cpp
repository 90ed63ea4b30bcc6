#include "vgpu/scheduler.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <numeric>

#include <fmt/core.h>

#include "vgpu/barriers.h"
#include "vgpu/levels.h"
#include "vgpu/ordering.h"
#include "vgpu/pool.h"
#include "vgpu/report.h"
#include "vgpu/taint.h"

namespace kw::vgpu {
namespace {

using record::FindingKind;

constexpr uint64_t kWarpSlice = 50000;     // instructions before another warp of the block runs
constexpr uint64_t kBlockSlice = 2000000;  // … before another block does
constexpr uint32_t kStepsPerLook = 64;     // slow steps between two looks at the clock
constexpr int kIdleRounds = 50;            // full rounds in which nobody changed anything

enum class BlockState { Finished, Yielded, Stopped };

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Another order of the items: backwards for kReverseSeed, else shuffled by seed and salt.
void permute(std::vector<uint32_t>& items, uint64_t seed, uint64_t salt) {
  if (seed == kReverseSeed) {
    std::reverse(items.begin(), items.end());
    return;
  }
  for (size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[mix(mix(seed ^ salt) ^ i) % i]);
}

class BlockRun {
 public:
  BlockRun(Machine& m, ResidentBlock& block) : m_(m), block_(block) {}

  BlockState run() {
    enter();
    std::vector<uint32_t> order(block_.warp_count);
    std::iota(order.begin(), order.end(), 0);
    if (m_.launch.schedule_seed != 0) permute(order, m_.launch.schedule_seed, block_.linear);
    uint64_t spent = 0;
    for (;;) {
      bool any_ready = false, any_worked = false;
      for (const uint32_t w : order) {
        if (!ready(block_.warps[w])) continue;
        any_ready = true;
        const Leave why = run_warp(block_.warps[w], spent);
        if (m_.stop) return BlockState::Stopped;
        any_worked = any_worked || why != Leave::Spin;
      }
      if (open_ready(m_)) continue;
      if (!any_ready) {
        if (finished()) return BlockState::Finished;
        if (!settle(m_)) return BlockState::Stopped;
      } else if (!any_worked || spent > kBlockSlice) {
        idle_ = !any_worked;
        return BlockState::Yielded;
      }
    }
  }
  /// The block gave way because all its warps wait for memory to change.
  bool idle() const { return idle_; }

 private:
  void enter() {
    m_.block = &block_;
    ++block_.activations;
    block_.ordered_low = block_.ordered_high = m_.next_segment;
    block_.segment = 0;  // other blocks may have taken numbers meanwhile
  }
  static bool ready(const Warp& w) {
    return std::any_of(w.groups, w.groups + w.group_count,
                       [](const Group& g) { return g.state == GroupState::Runnable; });
  }
  bool finished() const {
    return std::all_of(block_.warps, block_.warps + block_.warp_count,
                       [](const Warp& w) { return w.live == 0; });
  }

  Leave run_warp(Warp& w, uint64_t& spent) {
    const WarpLoops& loops = warp_loops();
    uint64_t left = kWarpSlice;
    Leave why = Leave::Slice;
    do {
      w.spinning = false;
      m_.fuel = std::min(left, m_.budget);
      const uint64_t given = m_.fuel;
      if (w.tainted) end_taint_if_clean(m_, w);
      why = m_.counters != nullptr ? loops.counted(m_, w)
            : w.tainted            ? loops.tainted(m_, w)
                                   : loops.checked(m_, w);
      const uint64_t used = given - m_.fuel;
      left -= used;
      m_.executed += used;
      m_.budget -= used;
      w.executed += used;
      spent += used;
    } while (why == Leave::Tainted && left > 0);
    check_limits(w);
    return why;
  }

  void check_limits(const Warp& w) {
    if (m_.stop) return;
    if (m_.cancelled != nullptr && m_.cancelled->load(std::memory_order_relaxed)) m_.stop = true;
    const bool over = m_.budget == 0 || w.executed > m_.launch.warp_budget;
    const bool late = is_late();
    if ((!over && !late) || w.group_count == 0) return;
    const Group& group =
        *std::max_element(w.groups, w.groups + w.group_count,
                          [](const Group& a, const Group& b) { return a.last_run < b.last_run; });
    report_fatal(m_, FindingKind::InstructionBudget,
                 actor(m_, w, __builtin_ctz(group.mask), group.pc), std::nullopt, [&] {
                   if (!over)
                     return fmt::format("still running after the time limit ({} warp instructions)",
                                        m_.executed);
                   return fmt::format(
                       "still running after {} instructions of this warp ({} of the whole run)",
                       w.executed, m_.executed);
                 });
  }

  // Looks at the clock once in a million instructions.
  bool is_late() {
    if (m_.launch.deadline <= 0 || m_.executed < m_.next_clock_look) return false;
    m_.next_clock_look = m_.executed + 1000000;
    m_.timed_out = now_seconds() > m_.launch.deadline;
    return m_.timed_out;
  }

  Machine& m_;
  ResidentBlock& block_;
  bool idle_ = false;
};

void report_deadlock(Machine& m, const std::deque<ResidentBlock*>& resident, uint64_t total,
                     bool all_started) {
  ResidentBlock& block = *resident.front();
  m.block = &block;
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    const Warp& w = block.warps[v];
    for (uint32_t g = 0; g < w.group_count; ++g) {
      if (w.groups[g].state != GroupState::Runnable) continue;
      report_fatal(
          m, FindingKind::Deadlock, actor(m, w, __builtin_ctz(w.groups[g].mask), w.groups[g].pc),
          std::nullopt, [&] {
            const std::string who =
                all_started
                    ? "no other thread will ever change it"
                    : fmt::format(
                          "only {} of the {} blocks fit on the device at once, and the others "
                          "cannot start until one of these ends",
                          resident.size(), total);
            return fmt::format("waits for memory to change, as all {} resident blocks do: {}",
                               resident.size(), who);
          });
      return;
    }
  }
  m.stop = true;
}

}  // namespace

void watch_clock(Machine& m) {
  if (++m.slow_steps % kStepsPerLook == 0 && m.launch.deadline > 0 &&
      now_seconds() > m.launch.deadline)
    m.fuel = 0;
}

BlockOrder::BlockOrder(uint64_t size, uint64_t resident, uint64_t seed)
    : size_(size), resident_(std::max<uint64_t>(1, resident)), seed_(seed) {}

uint32_t BlockOrder::operator[](uint64_t at) {
  if (seed_ == 0) return static_cast<uint32_t>(at);
  const uint64_t begin = at / resident_ * resident_;
  if (window_.empty() || begin != begin_) {
    begin_ = begin;
    window_.resize(std::min(size_ - begin, resident_));
    std::iota(window_.begin(), window_.end(), static_cast<uint32_t>(begin));
    permute(window_, seed_, begin);
  }
  return window_[at - begin];
}

bool run_blocks(Machine& m, BlockOrder& order, uint64_t begin, uint64_t end) {
  std::deque<ResidentBlock*> resident;  // those that gave way, the longest waiting first
  uint64_t next = begin;
  int idle_rounds = 0;
  size_t idle_in_row = 0;
  uint64_t progress = m.progress;
  while (next < end || !resident.empty()) {
    // A new block may be what the others wait for; a round of the old ones comes only when no more
    // fit.
    const bool admit = next < end && resident.size() < m.launch.resident_blocks;
    ResidentBlock* block = admit ? &m.pool->start(order[next++]) : resident.front();
    if (!admit) resident.pop_front();
    BlockRun run(m, *block);
    const BlockState state = run.run();
    if (state == BlockState::Stopped || m.stop) return false;
    if (state == BlockState::Finished) {
      ++m.progress;
      forget_acquires(m, *block);
      m.pool->finish(*block);
    } else {
      resident.push_back(block);
    }
    if (m.progress != progress || !run.idle() || admit) {
      progress = m.progress;
      idle_in_row = 0;
      idle_rounds = 0;
    } else if (++idle_in_row >= resident.size()) {
      idle_in_row = 0;
      if (++idle_rounds < kIdleRounds) continue;
      report_deadlock(m, resident, end - begin, next >= end);
      return false;
    }
  }
  return true;
}

}  // namespace kw::vgpu
