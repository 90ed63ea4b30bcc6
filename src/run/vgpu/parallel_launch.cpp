// Runs the blocks of one launch on several host threads. Most kernels' blocks are independent, but
// only a run can show it. So each thread works on the same data with its own stamps, and the stamps
// are merged afterwards. If two threads touched the same unit and one wrote, or if anything was
// found, the result is discarded. Then the program runs again serially. Locks on shared stamps
// would slow down every access; this costs one merge per region, and a second run for wrong
// kernels. Findings always come from the serial run, so they are reproducible.
#include "vgpu/parallel_launch.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "os/parallel.h"
#include "vgpu/scheduler.h"

namespace kw::vgpu {
namespace {

struct Worker {
  Regions memory;
  FindingLog log;
  std::unique_ptr<Machine> machine;
  bool done = false;
};

// Threads take blocks in small runs. Which thread gets which block does not matter when the result
// is clean.
void work(Worker& worker, BlockOrder order, std::atomic<uint64_t>& next, uint64_t step,
          std::atomic<bool>& failed) {
  try {
    for (;;) {
      const uint64_t begin = next.fetch_add(step);
      if (begin >= order.size()) break;
      const uint64_t end = std::min(order.size(), begin + step);
      if (failed.load(std::memory_order_relaxed) ||
          !run_blocks(*worker.machine, order, begin, end) || !worker.log.empty()) {
        failed = true;
        return;
      }
    }
    worker.done = true;
  } catch (const std::bad_alloc&) {
    failed = true;
  }
}

void same_unit(Regions& into, std::vector<Worker>& workers, uint32_t r) {
  int finest = into.row(r).unit_log2;
  for (Worker& worker : workers) finest = std::min<int>(finest, worker.memory.row(r).unit_log2);
  into.refine(into.row(r), finest);
  for (Worker& worker : workers) worker.memory.refine(worker.memory.row(r), finest);
}

constexpr uint64_t kMergeUnits = 4096;  // merged together, so that the arrays stay in cache

/// What the threads did to units of a region.
struct Use {
  bool conflict = false;  // two used a unit and at least one wrote it: perhaps a race
  bool written = true;    // every unit
};

/// Compares the stamps of units [begin, end). `all`: gets them too; null: they are not kept.
Use compare_units(const std::vector<const MemoryRegion*>& parts, uint64_t fresh, uint64_t begin,
                  uint64_t end, uint64_t* all) {
  uint8_t writers[kMergeUnits] = {};
  uint8_t readers[kMergeUnits] = {};  // other than the writer itself
  uint8_t conflict = 0;
  const uint64_t count = end - begin;
  for (const MemoryRegion* part : parts) {
    const uint64_t* reads = part->reads == nullptr ? nullptr : part->reads + begin;
    const uint64_t* writes = part->writes == nullptr ? nullptr : part->writes + begin;
    for (uint64_t u = 0; writes == nullptr && reads != nullptr && u < count; ++u)
      readers[u] |= static_cast<uint8_t>(reads[u] != 0);
    if (writes == nullptr) continue;
    for (uint64_t u = 0; all != nullptr && u < count; ++u)
      all[begin + u] = std::max(all[begin + u], writes[u]);
    for (uint64_t u = 0; u < count; ++u) {
      const auto wrote = static_cast<uint8_t>(writes[u] >= fresh);
      conflict |= static_cast<uint8_t>(writers[u] & wrote);
      writers[u] |= wrote;
      if (reads != nullptr) readers[u] |= static_cast<uint8_t>((reads[u] != 0) & (wrote == 0));
    }
  }
  uint8_t written = 1;
  for (uint64_t u = 0; u < count; ++u) {
    conflict |= static_cast<uint8_t>(writers[u] & readers[u]);
    written &= writers[u];
  }
  return {conflict != 0, written != 0};
}

Use compare_region(const MemoryRegion& region, const std::vector<const MemoryRegion*>& parts,
                   uint64_t fresh, uint64_t* all) {
  Use use;
  const uint64_t units = unit_count(region);
  for (uint64_t begin = 0; begin < units && !use.conflict; begin += kMergeUnits) {
    const Use some = compare_units(parts, fresh, begin, std::min(units, begin + kMergeUnits), all);
    use.conflict = some.conflict;
    use.written = use.written && some.written;
  }
  return use;
}

/// Returns false when only a serial run can decide whether there is a race.
bool merge_region(Regions& memory, std::vector<Worker>& workers, uint32_t r, uint32_t first_segment,
                  bool is_last) {
  MemoryRegion& region = memory.row(r);
  same_unit(memory, workers, r);
  const uint64_t fresh = uint64_t{first_segment} << global_stamp::kSegmentShift;
  std::vector<const MemoryRegion*> parts;
  bool anyone_wrote = false;
  for (Worker& worker : workers) {
    parts.push_back(&worker.memory.row(r));
    anyone_wrote = anyone_wrote || parts.back()->writes != nullptr;
  }
  if (!anyone_wrote) return true;
  if (is_last && region.is_result && region.writes == nullptr) {
    // The merged stamps of a large result would take more time than all else here.
    const Use use = compare_region(region, parts, fresh, nullptr);
    if (use.conflict) return false;
    region.defined = use.written;
    if (use.written) return true;
  }
  memory.ensure_writes(region);
  return !compare_region(region, parts, fresh, region.writes).conflict;
}

// Units that earlier launches wrote must count as written in this one.
void inherit(Regions& memory, Worker& worker) {
  for (uint32_t r = 0; r < memory.count(); ++r) {
    MemoryRegion& from = memory.row(r);
    MemoryRegion& to = worker.memory.row(r);
    if (!from.tracked || from.defined || from.writes == nullptr) continue;
    worker.memory.refine(to, from.unit_log2);
    worker.memory.ensure_writes(to);
    std::memcpy(to.writes, from.writes, 8 * unit_count(from));
  }
}

}  // namespace

ParallelResult run_parallel(const LaunchContext& context, Regions& memory, const BlockOrder& order,
                            int threads, uint64_t budget, uint32_t first_segment, bool is_last) {
  const size_t count = std::min(static_cast<uint64_t>(threads), order.size());
  std::vector<Worker> workers(count);
  for (Worker& worker : workers) {
    worker.memory = memory.fork();
    inherit(memory, worker);
    worker.machine = std::make_unique<Machine>(context, worker.memory, worker.log, first_segment);
    worker.machine->budget = budget;
    worker.machine->must_be_clean = true;
  }
  std::atomic<uint64_t> next{0};
  std::atomic<bool> failed{false};
  for (Worker& worker : workers) worker.machine->cancelled = &failed;
  const uint64_t step = std::max<uint64_t>(1, order.size() / (count * 8));
  os::parallel_for(static_cast<int>(count), static_cast<int64_t>(count), [&](int, int64_t t) {
    work(workers[static_cast<size_t>(t)], order, next, step, failed);
  });

  ParallelResult result;
  result.next_segment = first_segment;
  result.clean = !failed;
  result.ways.resize(context.code->insts.size());
  for (const Worker& worker : workers) {
    for (size_t i = 0; i < result.ways.size(); ++i) result.ways[i] |= worker.machine->ways[i];
    result.executed += worker.machine->executed;
    result.next_segment = std::max(result.next_segment, worker.machine->next_segment);
    result.clean = result.clean && worker.done && worker.log.empty();
    if (result.late.empty()) result.late = worker.machine->late;
  }
  // A finding before the deadline must be checked by the serial run.
  if (std::ranges::any_of(workers, [](const Worker& worker) { return !worker.log.empty(); }))
    result.late.clear();
  // Each thread had the whole budget; which blocks it took must not decide the result.
  result.clean = result.clean && result.executed <= budget;
  for (uint32_t r = 0; r < memory.count() && result.clean; ++r) {
    if (memory.row(r).tracked)
      result.clean = merge_region(memory, workers, r, first_segment, is_last);
  }
  return result;
}

}  // namespace kw::vgpu
