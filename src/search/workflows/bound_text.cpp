// Turns numbers into advice for a model: what limits a kernel, how that is known, and what to try.
#include <fmt/core.h>

#include <algorithm>

#include "workflows/explaining_judge.h"

namespace kw::workflows {
namespace {

constexpr double kLowOccupancy = 0.5;
constexpr double kPoorHiding = 0.8;     // share of the bandwidth that the bytes in flight reach
constexpr double kBadTail = 1.25;       // time relative to full waves
constexpr double kFarFromFloor = 2;     // an estimate above this many floors has a cause
constexpr double kManyTransfers = 1.3;  // bytes moved over the least bytes

constexpr double kGoodSectors = 0.8;    // share of the moved bytes that lanes request
constexpr double kManyConflicts = 0.1;  // of the wavefronts
constexpr double kIdleLanes = 0.7;

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

struct Advice {
  const char* bound;
  const char* text;
};

constexpr Advice kAdvice[] = {
    {"memory",
     "bound by memory: move fewer bytes (fuse, keep rows in registers or shared memory, read each "
     "input once), load and store 16 bytes per thread, and keep enough bytes in flight"},
    {"l2", "bound by L2 traffic: reuse tiles from shared memory or registers, coalesce accesses"},
    {"issue",
     "bound by instruction issue: fewer instructions per element: vectorise, unroll, hoist index "
     "arithmetic, replace division and modulo"},
    {"pipes",
     "bound by a slow pipe (special functions, conversions or fp64): fewer exp, log, div and "
     "conversions per element, packed conversions, exp2 with prescaled arguments"},
    {"shared memory",
     "bound by shared memory: avoid bank conflicts, use shuffles, keep values in registers"},
    {"compute", "bound by arithmetic: use tensor cores where precision allows, contract to fma"},
    {"launch",
     "bound by launching: fewer kernels, or more work per launch; at this size latency counts, so "
     "shorten the chain of dependent steps and barriers"},
};

std::string advice(const std::string& bound) {
  for (const Advice& row : kAdvice) {
    if (bound == row.bound) return row.text;
  }
  return "";
}

std::string part_text(const timing::CostPart& part, size_t number) {
  std::string out = fmt::format(
      "launch {} (estimated): {:.2f} us, bound by {}; memory {:.2f}, L2 {:.2f}, issue {:.2f}, "
      "pipes {:.2f}, shared {:.2f}, compute {:.2f} us; occupancy {:.0f} %, {:.2f} waves\n",
      number, part.us, part.bound, part.memory_us, part.l2_us, part.issue_us, part.pipe_us,
      part.shared_us, part.compute_us, 100 * part.occupancy, part.waves);
  if (const std::string text = advice(part.bound); !text.empty()) out += "  - " + text + "\n";
  if (part.hiding < kPoorHiding)
    out += fmt::format(
        "  - only {:.0f} % of the bandwidth can be used with so few bytes in flight: more warps, "
        "or more independent loads per thread before the first use\n",
        100 * part.hiding);
  if (part.occupancy > 0 && part.occupancy < kLowOccupancy)
    out +=
        "  - occupancy is low: fewer registers or less shared memory per block, or other block "
        "sizes\n";
  if (part.tail > kBadTail)
    out += fmt::format(
        "  - the last wave of blocks leaves much of the GPU idle ({:.2f} times the time of full "
        "waves): another grid, or a loop over a grid of resident blocks\n",
        part.tail);
  if (part.waves > 0 && part.waves < 1)
    out += "  - the grid does not fill the GPU: split the work over more blocks\n";
  return out;
}

}  // namespace

std::string bound_text(const timing::Cost* cost, const clock::Work& work, const clock::Floor& floor,
                       double us, bool measured, const std::string& rates_of) {
  std::string out = fmt::format(
      "the task must read {:.3f} MB and write {:.3f} MB and do {:.3f} GFLOP; its floor on {} is "
      "{:.2f} us, set by {} (roofline from measured rates)\n",
      work.read_bytes / 1e6, work.write_bytes / 1e6, work.flops / 1e9, rates_of, floor.us,
      floor.bound);
  if (us > 0) {
    out += fmt::format("this module: {:.2f} us ({}), {:.0f} % of the floor\n", us,
                       measured ? "measured on the GPU"
                                : "estimated from counters of the virtual "
                                  "GPU, never measured",
                       100 * floor.us / us);
    if (measured && work.bytes() > 0)
      out += fmt::format("achieved (measured): {:.0f} GB/s of the {:.0f} GB/s this mix allows\n",
                         work.bytes() / us / 1e3, floor.bandwidth);
  }
  if (cost == nullptr) return out + "no counters are known for it\n";
  double memory = 0;
  // Traffic alone, without the effect of too few bytes in flight.
  for (const timing::CostPart& part : cost->launches) memory += part.memory_us * part.hiding;
  for (size_t i = 0; i < cost->launches.size(); ++i) out += part_text(cost->launches[i], i + 1);
  if (cost->launches.size() > 1)
    out += fmt::format("{} launches: intermediates go through memory between them\n",
                       cost->launches.size());
  if (floor.memory_us > 0 && memory > kManyTransfers * floor.memory_us)
    out += fmt::format("memory traffic is {:.1f} times what the task needs (estimated)\n",
                       memory / floor.memory_us);
  if (us > 0 && floor.us > 0 && us > kFarFromFloor * floor.us)
    out += "it is far from the floor: look for the largest number above first\n";
  return out;
}

std::string counters_hint(const std::vector<timing::CostLaunch>& launches) {
  std::string out;
  for (size_t i = 0; i < launches.size(); ++i) {
    const record::CounterValues& counted = launches[i].counted;
    if (counted.warp_total == 0) continue;
    const double used =
        share(counted.global_load_bytes + counted.global_store_bytes,
              record::kSectorBytes * (counted.global_load_sectors + counted.global_store_sectors));
    const uint64_t wavefronts = counted.shared_load_wavefronts + counted.shared_store_wavefronts;
    const double conflicts = share(counted.shared_bank_conflicts, wavefronts);
    const double divergent = share(counted.divergent_branches, counted.branches);
    out += fmt::format(
        "launch {} (counted by the virtual GPU at a small shape): {:.0f} % of the bytes in global "
        "sectors used, {:.0f} % of shared wavefronts are bank conflicts, {:.0f} % of lanes at "
        "work, {:.0f} % of branches diverge, {} atomics hit a taken address\n",
        i + 1, 100 * used, 100 * conflicts, 100 * counted.lane_efficiency(), 100 * divergent,
        counted.atomic_serialised);
    if (used > 0 && used < kGoodSectors)
      out += "  - accesses are not coalesced: let neighbouring threads touch neighbouring bytes\n";
    if (conflicts > kManyConflicts)
      out += "  - bank conflicts: pad or swizzle the shared arrays, or use shuffles\n";
    if (counted.lane_efficiency() < kIdleLanes)
      out += "  - many lanes idle: divergence, or blocks wider than their work\n";
    if (counted.local_bytes > 0)
      out +=
          "  - registers spill or arrays are indexed at run time (local memory): shorten live "
          "ranges, unroll, or lower the block size\n";
  }
  return out;
}

}  // namespace kw::workflows
