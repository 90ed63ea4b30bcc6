// Runs all launches of a program in order. Launches without ordering between blocks run first on
// several host threads. If that pass is not clean, it is discarded. One serial pass gives the
// findings, so that they are the same on every run. The work limit is counted in warp instructions:
// an endless loop must be found on every machine. A time limit only says that this machine was too
// slow. Memory is checked before it is allocated, because running out of it later could kill the
// process. With check_order, two more runs show results that depend on the order of blocks.
#include "vgpu/program_run.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <random>
#include <thread>

#include <fmt/core.h>

#include "vgpu/instruction_counts.h"
#include "vgpu/launch_check.h"
#include "vgpu/machine.h"
#include "vgpu/order_check.h"
#include "vgpu/parallel_launch.h"
#include "vgpu/pool.h"
#include "vgpu/program_memory.h"
#include "vgpu/report.h"
#include "vgpu/scheduler.h"

namespace kw::vgpu {
namespace {

using ports::RunOutcome;
using ports::RunStatus;

constexpr uint64_t kMaxResidentBytes = uint64_t{4} << 30;

// The most bytes that the resident blocks may use together.
uint64_t resident_limit() { return std::min(kMaxResidentBytes, physical_bytes() / 2); }

// More warp instructions than a kernel for such buffers and launches needs, even if one thread
// compares every element with its whole row. It is counted, not timed, so that an endless loop is
// found on every machine.
uint64_t default_budget(const kernel::Program& program) {
  constexpr double kLeast = 0x1p28, kMost = 0x1p62, kPerWarp = 0x1p16, kPerByte = 0x1p10;
  constexpr double kPerPair = 0x1p4;  // of a byte and a position along the longest dim
  double budget = kLeast;
  for (const kernel::Buffer& buffer : program.buffers) {
    int64_t longest = 0;
    for (const int64_t extent : buffer.shape) longest = std::max(longest, extent);
    budget +=
        static_cast<double>(buffer.bytes) * (kPerByte + kPerPair * static_cast<double>(longest));
  }
  for (const kernel::Launch& launch : program.launches)
    budget += kPerWarp * static_cast<double>(launch.grid.count()) *
              static_cast<double>((launch.block.count() + kLanes - 1) / kLanes);
  return static_cast<uint64_t>(std::min(budget, kMost));
}

/// A seed for buffer addresses, clocks and ids, which a candidate must not know. Runs with counters
/// or a schedule seed do not use it, so they can be repeated.
uint64_t unguessed() {
  std::random_device system;
  return uint64_t{system()} << 32 | system();
}

ports::BranchWays branch_ways(const LaunchContext& c, const std::vector<uint8_t>& ways) {
  ports::BranchWays made;
  made.entry = c.launch->entry;
  for (uint32_t pc = 0; pc < ways.size(); ++pc) {
    const Inst& in = c.code->insts[pc];
    if (in.op != Op::Branch || in.guard == 0) continue;
    made.ways.push_back(ways[pc]);
    made.lines.push_back(place_of(*c.code, pc).line);
  }
  return made;
}

/// One pass over all launches, serial or on several host threads.
class Attempt {
 public:
  Attempt(const LaunchRequest& request, int threads, uint64_t seed, double deadline, bool close)
      : request_(request),
        program_(*request.program),
        chance_(request.options.counters || seed != 0 ? 0 : unguessed()),
        memory_(*request.image, program_, request.options.misalign_bytes, chance_, close),
        threads_(threads),
        seed_(seed),
        deadline_(deadline) {}

  Result<RunOutcome> run() {
    RunOutcome outcome;
    KW_TRY(memory_.fill(*request_.inputs));
    const uint64_t wanted = request_.options.max_warp_instructions;
    budget_ = wanted != 0 ? wanted : default_budget(program_);
    bool completed = true;
    for (size_t i = 0; i < program_.launches.size() && completed; ++i)
      completed = launch(i, outcome);
    if (dirty_parallel_) return outcome;
    if (completed && !request_.options.counters) memory_.judge(segments_, log_);
    log_.prefer_races();
    outcome.status = completed       ? RunStatus::Completed
                     : late_.empty() ? RunStatus::Stopped
                                     : RunStatus::Hung;
    outcome.buffers = memory_.collect_outputs(!request_.options.counters);
    outcome.findings = log_.take();
    if (!late_.empty())
      outcome.message = fmt::format("the virtual GPU was still running it after {:g} s ({})",
                                    request_.options.timeout_seconds, late_);
    else if (!completed)
      outcome.message = outcome.findings.empty() ? "stopped" : outcome.findings.back().message;
    return outcome;
  }
  /// True when the parallel pass was not clean: only a serial pass gives reproducible findings.
  bool must_run_serially() const { return dirty_parallel_; }

  static RunOutcome out_of_memory(const std::string& why) {
    RunOutcome outcome;
    outcome.status = RunStatus::OutOfMemory;
    outcome.message = why;
    return outcome;
  }

 private:
  LaunchContext context(size_t index, const Code& code) {
    const kernel::Launch& launch = program_.launches[index];
    LaunchContext c;
    c.code = &code;
    c.launch = &launch;
    c.launch_index = static_cast<int>(index);
    c.params.resize(code.param_bytes + 16);
    for (size_t p = 0; p < launch.params.size(); ++p) {
      const kernel::Param& param = launch.params[p];
      const uint64_t address = param.buffer >= 0 ? memory_.buffer_address(param.buffer) : 0;
      if (param.buffer >= 0)
        std::memcpy(&c.params[code.params[p].offset], &address, 8);
      else if (!param.bytes.empty()) {
        const std::vector<uint8_t> bytes = kernel::patched_bytes(
            param, [this](int buffer) { return memory_.buffer_address(buffer); });
        std::memcpy(&c.params[code.params[p].offset], bytes.data(), bytes.size());
      }
    }
    c.dynamic_shared = static_cast<uint32_t>(launch.shared_bytes);
    c.resident_blocks =
        resident_blocks(*request_.target, launch, code, request_.image->registers_of(launch.entry));
    c.schedule_seed = seed_;
    c.preempts = seed_ - kPreemptSeed < kPreemptSeeds;
    c.chance = chance_ + (seed_ + index + 1) * 0x9e3779b97f4a7c15u;
    c.map = memory_.regions().map();
    c.sms = request_.target->default_sms;
    if (launch.cooperative) c.workspace = memory_.reset_workspace();
    c.deadline = deadline_;
    const uint64_t fit =
        std::max<uint64_t>(1, resident_limit() / std::max<uint64_t>(1, resident_bytes(c)));
    if (!launch.cooperative) c.resident_blocks = std::min(c.resident_blocks, fit);
    return c;
  }

  bool launch(size_t index, RunOutcome& outcome) {
    const Code& code = request_.image->kernels.at(program_.launches[index].entry);
    const LaunchContext c = context(index, code);
    BlockOrder order(program_.launches[index].grid.count(), c.resident_blocks, seed_);
    segments_.push_back({next_segment_, &code, &program_.launches[index]});
    const bool parallel = threads_ > 1 && !code.serial && !program_.launches[index].cooperative &&
                          !request_.options.counters && order.size() > 1 &&
                          resident_bytes(c) <= resident_limit() / static_cast<uint64_t>(threads_);
    return parallel ? launch_parallel(c, order, outcome) : launch_serial(c, order, outcome);
  }

  bool launch_parallel(const LaunchContext& c, const BlockOrder& order, RunOutcome& outcome) {
    const bool is_last = static_cast<size_t>(c.launch_index) + 1 == program_.launches.size();
    ParallelResult result =
        run_parallel(c, memory_.regions(), order, threads_, budget_, next_segment_, is_last);
    late_ = std::move(result.late);
    dirty_parallel_ = !result.clean && late_.empty();
    next_segment_ = result.next_segment;
    outcome.branches.push_back(branch_ways(c, result.ways));
    budget_ -= std::min(budget_, result.executed);
    return result.clean;
  }

  bool launch_serial(const LaunchContext& c, BlockOrder& order, RunOutcome& outcome) {
    Machine m(c, memory_.regions(), log_, next_segment_);
    m.budget = budget_;
    m.printed = std::move(outcome.printed);  // one limit for the whole run
    std::vector<InstCounts> rows;
    CounterTable table;
    if (request_.options.counters) {
      rows.resize(c.code->insts.size());
      table.rows = rows.data();
      m.counters = &table;
    }
    const bool done = run_blocks(m, order, 0, order.size());
    late_ = std::move(m.late);
    next_segment_ = m.next_segment;
    budget_ = m.budget;
    outcome.printed = std::move(m.printed);
    outcome.branches.push_back(branch_ways(c, m.ways));
    if (request_.options.counters) {
      record::LaunchCounters counters = summarise(*c.code, rows);
      counters.kernel = c.launch->kernel;
      counters.blocks = c.launch->grid.count();
      counters.threads_per_block = c.launch->block.count();
      outcome.counters.push_back(std::move(counters));
    }
    return done;
  }

  const LaunchRequest& request_;
  const kernel::Program& program_;
  uint64_t chance_;
  ProgramMemory memory_;
  FindingLog log_;
  std::vector<LaunchSegments> segments_;
  int threads_;
  uint64_t seed_;
  double deadline_;
  uint64_t budget_ = 0;
  uint32_t next_segment_ = 1;
  bool dirty_parallel_ = false;
  std::string late_;  // where it was at the time limit
};

// Checks all launches before the first one runs.
std::vector<record::Finding> launch_findings(const LaunchRequest& request) {
  std::vector<record::Finding> findings;
  const kernel::Program& program = *request.program;
  for (size_t i = 0; i < program.launches.size(); ++i) {
    const kernel::Launch& launch = program.launches[i];
    const auto found = request.image->kernels.find(launch.entry);
    const Code* code = found == request.image->kernels.end() ? nullptr : &found->second;
    for (std::string& problem : launch_problems(*request.target, program, launch, code,
                                                request.image->registers_of(launch.entry))) {
      record::Finding finding;
      finding.kind = record::FindingKind::LaunchError;
      finding.message = std::move(problem);
      finding.kernel = launch.kernel;
      finding.launch = static_cast<int>(i);
      finding.at = {program.module_name, launch.line, 0};
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

// The first launch whose blocks do not fit into memory, or "".
std::string resident_problem(const LaunchRequest& request) {
  for (const kernel::Launch& launch : request.program->launches) {
    LaunchContext c;
    c.code = &request.image->kernels.at(launch.entry);
    c.launch = &launch;
    c.dynamic_shared = static_cast<uint32_t>(launch.shared_bytes);
    const uint64_t blocks = launch.cooperative ? launch.grid.count() : 1;
    if (resident_bytes(c) > resident_limit() / blocks)
      return fmt::format(
          "{} blocks of {} need {} bytes each for registers, shared and local memory", blocks,
          launch.kernel, resident_bytes(c));
  }
  return "";
}

int host_threads(const ports::RunOptions& options) {
  if (options.threads > 0) return std::min(options.threads, 256);
  return static_cast<int>(std::max(1u, std::min(64u, std::thread::hardware_concurrency())));
}

Result<RunOutcome> run_once(const LaunchRequest& request, uint64_t seed, double deadline,
                            bool close = false) {
  const int threads = host_threads(request.options);
  if (threads > 1) {
    Attempt attempt(request, threads, seed, deadline, close);
    RunOutcome outcome = KW_TRY(attempt.run());
    if (!attempt.must_run_serially()) return outcome;
  }
  return Attempt(request, 1, seed, deadline, close).run();
}

// Where buffers are close, an address far out of bounds may belong to no buffer or to another one.
// So what is found there is told from a run in which they lie far apart, if that finds it too.
Result<RunOutcome> run_close(const LaunchRequest& request, double deadline) {
  RunOutcome outcome = KW_TRY(run_once(request, 0, deadline, true));
  if (outcome.findings.empty() && outcome.status == RunStatus::Completed) return outcome;
  RunOutcome apart = KW_TRY(run_once(request, 0, deadline));
  const bool told = !apart.findings.empty() || apart.status != RunStatus::Completed;
  return told ? apart : outcome;
}

bool uses_strong(const LaunchRequest& request) {
  return std::ranges::any_of(request.program->launches, [&](const kernel::Launch& launch) {
    const Code& code = request.image->kernels.at(launch.entry);
    return code.has_sync || !code.atomics.empty() ||
           std::ranges::any_of(code.mems, [](const MemOp& mem) { return mem.order > Order::Seed; });
  });
}

bool certain(const RunOutcome& outcome) {
  return std::ranges::any_of(outcome.findings, [](const record::Finding& finding) {
    return finding.certainty == record::Certainty::Certain;
  });
}

bool same_place(const record::Finding& a, const record::Finding& b) {
  return a.kind == b.kind && a.certainty == b.certainty && a.at.line == b.at.line &&
         a.at.ptx_line == b.at.ptx_line;
}

// Runs it with blocks and warps that interrupt each other. What that shows counts as if the first
// run had shown it.
Status check_interrupted(const LaunchRequest& request, uint64_t seed, double deadline,
                         RunOutcome& outcome) {
  RunOutcome other = KW_TRY(run_once(request, seed, deadline));
  if (other.status != RunStatus::Completed && other.status != RunStatus::Stopped) return Done{};
  if (other.status == RunStatus::Completed) {
    if (auto finding = compare_orders(*request.program, outcome, other))
      other.findings.push_back(std::move(*finding));
  } else {
    outcome.status = other.status;
    outcome.message = other.message;
  }
  for (record::Finding& finding : other.findings) {
    if (std::ranges::none_of(outcome.findings, [&](const record::Finding& known) {
          return same_place(known, finding);
        }))
      outcome.findings.push_back(std::move(finding));
  }
  return Done{};
}

// Runs the program again: in reverse order, shuffled, and with interruptions.
Status check_order(const LaunchRequest& request, double deadline, RunOutcome& outcome) {
  for (const uint64_t seed : {kReverseSeed, uint64_t{0x5eed}}) {
    const RunOutcome other = KW_TRY(run_once(request, seed, deadline));
    if (other.status != RunStatus::Completed) continue;
    auto finding = compare_orders(*request.program, outcome, other);
    if (!finding) continue;
    outcome.findings.push_back(std::move(*finding));
    break;
  }
  for (uint64_t i = 0; i < kPreemptSeeds && uses_strong(request) &&
                       outcome.status == RunStatus::Completed && (i == 0 || !certain(outcome));
       ++i)
    KW_TRY(check_interrupted(request, kPreemptSeed + i, deadline, outcome));
  return Done{};
}

}  // namespace

Result<ports::RunOutcome> run_program(const LaunchRequest& request) {
  RunOutcome outcome;
  outcome.findings = launch_findings(request);
  if (!outcome.findings.empty()) {
    outcome.status = RunStatus::Refused;
    outcome.message = outcome.findings.front().message;
    return outcome;
  }
  uint64_t needed = 0;
  if (__builtin_add_overflow(needed_bytes(*request.program), variable_bytes(*request.image),
                             &needed) ||
      needed > physical_bytes()) {
    return Attempt::out_of_memory(fmt::format(
        "its buffers and variables need {} bytes with their checks, this machine has {}", needed,
        physical_bytes()));
  }
  if (const std::string problem = resident_problem(request); !problem.empty())
    return Attempt::out_of_memory(problem);
  const double start = now_seconds();
  const double deadline =
      request.options.timeout_seconds > 0 ? start + request.options.timeout_seconds : 0;
  try {
    const ports::RunOptions& options = request.options;
    const bool close = options.close_buffers && options.schedule_seed == 0 && !options.counters;
    outcome = KW_TRY(close ? run_close(request, deadline)
                           : run_once(request, options.schedule_seed, deadline));
    outcome.seconds = now_seconds() - start;
    if (request.options.check_order && outcome.status == RunStatus::Completed)
      KW_TRY(check_order(request, deadline, outcome));
  } catch (const std::bad_alloc&) {
    // What the program needs was counted above, so this machine is to blame.
    return environment_error(
        "the virtual GPU got no memory from this machine while a program ran; end other programs, "
        "or raise the limit (ulimit -v), and try again");
  }
  return outcome;
}

}  // namespace kw::vgpu
