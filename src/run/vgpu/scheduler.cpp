// Runs blocks so that every legal wait ends and every endless wait is found. A block runs until it
// ends or waits. Running all resident blocks in turn would also be correct, but it needs more
// memory and time: most blocks never wait. When a block waits, the next one starts, because it may
// be what the first waits for. When no more fit, the resident blocks alternate. A deadlock is
// reported only when nothing outside the blocks changed and all their states repeat. States that
// never repeat, such as counters of polls, end after 20000 rounds.
#include "vgpu/scheduler.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <deque>
#include <numeric>

#include <fmt/core.h>

#include "vgpu/block_run.h"
#include "vgpu/ordering.h"
#include "vgpu/polling.h"
#include "vgpu/report.h"

namespace kw::vgpu {
namespace {

constexpr uint32_t kStepsPerLook = 64;   // slow steps between two reads of the clock
constexpr uint32_t kBlocksPerLook = 64;  // the same for blocks: short ones use up no slice
// Full rounds in which every block waited and nothing changed. After this many, a state that never
// repeats is taken for a counter of polls, not for work.
constexpr uint64_t kIdleRounds = 20000;

// So many blocks interrupt each other, unless all of them wait for others.
constexpr size_t kTogether = 64;

using Resident = std::deque<ResidentBlock*>;

void report_deadlock(Machine& m, const Resident& resident, uint64_t total, bool all_started) {
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

uint32_t most_groups(const Resident& resident) {
  uint32_t most = 1;
  for (const ResidentBlock* block : resident) {
    for (uint32_t v = 0; v < block->warp_count; ++v)
      most = std::max(most, block->warps[v].group_count);
  }
  return most;
}

/// Distinguishes a wait that ends from one that never ends. It never ends when all blocks wait,
/// nothing outside them changes, and their states repeat. Between two equal states every group of
/// every warp has run.
class IdleWatch {
 public:
  explicit IdleWatch(const Machine& m) : m_(m), outside_(m.outside) {}

  void worked() { in_row_ = rounds_ = 0; }
  /// A block may be skipped while what it polls is unchanged. When all blocks wait, they run again:
  /// some count their polls.
  bool may_skip() const { return rounds_ == 0; }
  /// To be called when the block that ran last waits. Returns true when all wait forever.
  bool waited(const Resident& resident) {
    if (m_.outside != outside_) worked();
    outside_ = m_.outside;
    if (++in_row_ < resident.size()) return false;
    in_row_ = 0;
    ++rounds_;
    if (std::has_single_bit(rounds_)) {
      remember(resident);
      return false;
    }
    return rounds_ >= kIdleRounds || (rounds_ - remembered_ >= turns_ && as_remembered(resident));
  }

 private:
  void remember(const Resident& resident) {
    remembered_ = rounds_;
    turns_ = most_groups(resident);
    states_.clear();
    for (const ResidentBlock* block : resident) states_.push_back(state(*block));
  }
  bool as_remembered(const Resident& resident) const {
    return std::equal(
        resident.begin(), resident.end(), states_.begin(), states_.end(),
        [&](const ResidentBlock* block, uint64_t was) { return state(*block) == was; });
  }
  uint64_t state(const ResidentBlock& block) const {
    return state_of(block, m_.launch.code->file_bytes);
  }

  const Machine& m_;
  uint64_t outside_;
  size_t in_row_ = 0;    // consecutive blocks that waited
  uint64_t rounds_ = 0;  // full rounds of all blocks
  uint64_t remembered_ = 0;
  uint32_t turns_ = 1;
  std::vector<uint64_t> states_;
};

// A new block may be what the others wait for. So the old ones run again only when no more fit.
// `idle`: so many blocks in a row have waited.
bool may_admit(const Machine& m, const Resident& resident, size_t idle) {
  if (resident.size() >= m.launch.resident_blocks) return false;
  return !m.launch.preempts || resident.size() < kTogether || idle >= resident.size();
}

}  // namespace

void watch_clock(Machine& m) {
  if (++m.slow_steps % kStepsPerLook == 0 && m.launch.deadline > 0 &&
      now_seconds() > m.launch.deadline)
    m.fuel = m.next_clock_look = 0;
}

void charge(Machine& m, uint64_t instructions) {
  constexpr uint64_t kSettleAt = 1 << 16;
  m.charged += instructions;
  if (m.charged >= kSettleAt) m.fuel = 0;  // ends the slice, which settles it
}

bool stop_if_late(Machine& m, int line) {
  if (m.launch.deadline <= 0 || now_seconds() <= m.launch.deadline) return false;
  // The time limit depends on this machine, not on the kernel, so this is not a finding.
  m.late = fmt::format("{}{}, after {} warp instructions", m.launch.launch->kernel,
                       line > 0 ? fmt::format(" at line {}", line) : "", m.executed);
  m.stop = true;
  return true;
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

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool run_blocks(Machine& m, BlockOrder& order, uint64_t begin, uint64_t end) {
  Resident resident;  // blocks that yielded, the longest waiting first
  IdleWatch watch(m);
  uint64_t next = begin;
  size_t idle = 0;
  while (next < end || !resident.empty()) {
    const bool admit = next < end && may_admit(m, resident, idle);
    // One of the interrupted orders takes turns, the others choose at random.
    if (!admit && m.launch.preempts && idle == 0 && m.launch.schedule_seed != kPreemptSeed)
      std::swap(resident.front(), resident[decide(m) % resident.size()]);
    ResidentBlock* block = admit ? &m.pool->start(order[next++]) : resident.front();
    if (!admit) resident.pop_front();
    if (!admit && watch.may_skip() && still_waits(*block)) {
      resident.push_back(block);
      watch.waited(resident);
      ++idle;
      continue;
    }
    BlockRun run(m, *block);
    const BlockRun::State state = run.run();
    if (state == BlockRun::State::Stopped || m.stop) return false;
    if (++m.started % kBlocksPerLook == 0 && stop_if_late(m, 0)) return false;
    if (state == BlockRun::State::Finished) {
      ++m.progress;
      ++m.outside;
      m.pool->finish(*block);
    } else {
      resident.push_back(block);
    }
    idle = run.idle() ? idle + 1 : 0;
    if (m.launch.preempts && next < end && resident.size() < m.launch.resident_blocks) {
      watch.worked();
    } else if (admit || !run.idle()) {
      watch.worked();
    } else if (watch.waited(resident)) {
      report_deadlock(m, resident, end - begin, next >= end);
      return false;
    }
  }
  return true;
}

}  // namespace kw::vgpu
