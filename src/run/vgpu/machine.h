// The state of one host thread that executes blocks of one launch. The other files of this folder
// have functions that take a Machine&; the warp loop uses the fields directly.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernel/program.h"
#include "vgpu/code.h"
#include "vgpu/finding_log.h"
#include "vgpu/memory_order.h"
#include "vgpu/regions.h"
#include "vgpu/state.h"

namespace kw::vgpu {

struct CounterTable;
class Handovers;
class BlockPool;
class ReaderLists;

/// Shared by all host threads of a launch. It does not change while the launch runs.
struct LaunchContext {
  const Code* code = nullptr;
  const kernel::Launch* launch = nullptr;
  int launch_index = 0;
  std::vector<std::byte> params;
  uint32_t dynamic_shared = 0;
  uint64_t resident_blocks = 1;  // number of blocks that the device holds at once
  uint64_t schedule_seed = 0;    // 0: natural order
  bool preempts = false;         // see kPreemptSeed
  uint64_t chance = 0;           // decides clocks and ids, which differ from run to run
  int sms = 1;
  AddressMap map;          // of the run's memory
  uint64_t workspace = 0;  // address of the grid barrier of a cooperative launch, or 0
  double deadline = 0;     // steady-clock seconds at which the run is stopped
};

/// A block between two of its synchronisations.
struct Segment {
  uint32_t block = 0;
  uint32_t time = 0;
};

struct Machine {
  Machine(const LaunchContext& context, Regions& memory, FindingLog& findings,
          uint32_t first_segment);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const LaunchContext& launch;
  Regions& memory;
  FindingLog& log;

  // For the warp loop: raw views of the members above.
  AddressMap map;
  const Inst* code = nullptr;
  const MemOp* mems = nullptr;
  const AtomicInst* atomics = nullptr;
  const isa::Alu* alus = nullptr;
  MemoryRegion* regions = nullptr;
  uint32_t region_count = 0;
  const std::byte* params = nullptr;
  Block* block = nullptr;  // the block that runs now
  uint64_t fuel = 0;       // instructions left in the slice
  bool preempted = false;  // another block should run now; see preempt()
  bool stop = false;

  // Ordering.
  uint32_t launch_segment = 1;  // stamps of earlier launches are below it
  uint32_t next_segment = 1;
  std::vector<Segment> segments;             // starts at launch_segment
  std::unordered_map<uint64_t, Flag> flags;  // in global memory, by place
  uint64_t releases = 0;
  std::unique_ptr<ReaderLists> reader_lists;  // of global memory; null: two readers suffice
  std::unique_ptr<Handovers> handovers;       // null: the kernel has no strong global stores

  // Scheduling.
  std::unique_ptr<BlockPool> pool;
  uint64_t budget = 0;  // warp instructions left for the whole run
  uint64_t executed = 0;
  uint64_t charged = 0;     // work besides instructions that the slice must pay for; see charge()
  uint64_t progress = 0;    // changes that another warp may wait for
  uint64_t outside = 0;     // changes that another block may wait for
  uint64_t patience = 0;    // polls that warps may repeat without giving way; see poll()
  uint64_t looks = 0;       // polls of memory that others may change
  uint32_t slow_steps = 0;  // see watch_clock
  uint32_t started = 0;     // times that a block ran
  uint64_t clock = 0;       // number of reads of the clock
  uint64_t interrupts = 0;  // number of random decisions of the schedule
  const std::atomic<bool>* cancelled = nullptr;  // set when another host thread found something
  uint64_t next_clock_look = 0;  // the deadline is checked when `executed` reaches this
  std::string late;              // where it was at the deadline; "" before the deadline
  bool must_be_clean = false;    // stop at everything that needs a serial run

  std::vector<uint8_t> ways;         // by pc: which ways a branch went (ports::BranchWays)
  CounterTable* counters = nullptr;  // not null: count instead of checking
  std::string printed;
};

}  // namespace kw::vgpu
