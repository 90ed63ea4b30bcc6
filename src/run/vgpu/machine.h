// The state in which one host thread executes blocks of one launch. What is done with it stands in
// the other files of this folder as functions taking a Machine&; the warp loop uses the fields
// directly.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernel/program.h"
#include "vgpu/code.h"
#include "vgpu/finding_log.h"
#include "vgpu/regions.h"
#include "vgpu/state.h"

namespace kw::vgpu {

struct CounterTable;
class Handovers;
class BlockPool;

/// What all host threads of a launch share; nothing here changes while it runs.
struct LaunchContext {
  const Code* code = nullptr;
  const kernel::Launch* launch = nullptr;
  int launch_index = 0;
  std::vector<std::byte> params;
  uint32_t dynamic_shared = 0;
  uint64_t resident_blocks = 1;  // how many blocks the device holds at once
  uint64_t schedule_seed = 0;    // 0: natural order
  int sms = 1;
  uint64_t workspace = 0;    // address of the grid barrier of a cooperative launch, or 0
  double deadline = 0;       // steady-clock seconds at which the run gives up
};

/// A block between two of its synchronisations.
struct Segment {
  uint32_t block = 0;
  uint32_t time = 0;
};

/// When a block published its earlier accesses to other blocks, and when it last looked at theirs.
struct BlockSync {
  struct Release {
    uint32_t covers = 0;  // accesses stamped before this block time
    uint64_t at = 0;      // run-wide count of releases
  };
  std::vector<Release> releases;
  uint64_t acquired = 0;
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

  // For the warp loop: raw views of what the above hold.
  const Inst* code = nullptr;
  const MemOp* mems = nullptr;
  const AtomicInst* atomics = nullptr;
  const isa::Alu* alus = nullptr;
  Region* regions = nullptr;
  uint32_t region_count = 0;
  const std::byte* params = nullptr;
  Block* block = nullptr;  // the one that runs now
  uint64_t fuel = 0;       // instructions until the slice ends
  bool stop = false;

  // Ordering.
  uint32_t launch_segment = 1;  // stamps of earlier launches lie below
  uint32_t next_segment = 1;
  std::vector<Segment> segments;  // from launch_segment on
  std::unordered_map<uint32_t, BlockSync> syncs;
  uint64_t sync_time = 1;
  std::unique_ptr<Handovers> handovers;  // null: the kernel makes none

  // Scheduling.
  std::unique_ptr<BlockPool> pool;
  uint64_t budget = 0;  // warp instructions left to the whole run
  uint64_t executed = 0;
  uint64_t progress = 0;                         // changes another warp might wait for
  uint64_t outside = 0;                          // … another block might wait for
  uint64_t looks = 0;                            // at memory that others may change
  uint32_t slow_steps = 0;                       // see watch_clock
  uint64_t clock = 0;                            // reads of the clock so far
  const std::atomic<bool>* cancelled = nullptr;  // another host thread found something
  uint64_t next_clock_look = 0;  // when `executed` gets here, the deadline is checked
  std::string late;              // where it was when the deadline passed; "" while there is time
  bool must_be_clean = false;    // stop at anything a serial run has to look at

  CounterTable* counters = nullptr;  // count instead of checking
  std::string printed;
};

}  // namespace kw::vgpu
