// Metrics without a profiler: counters of the virtual GPU, what the compiler and the launch say,
// the PTX, the reference's graph.
#pragma once

#include <cstdint>
#include <string_view>

#include "arch/arch.h"
#include "graph/graph.h"
#include "ports/compiler.h"
#include "profile/metric_set.h"
#include "record/counters.h"

namespace kw::profile {

/// Exact counts of one launch on the virtual GPU.
MetricSet metrics_of_counters(const record::LaunchCounters& counters);

struct LaunchShape {
  int64_t blocks = 0;  // of the grid
  int threads = 0;     // of a block
  int64_t dynamic_shared = 0;
  int sms = 0;  // of the device; 0: as the target's common board has
};
/// Registers, shared memory, spills, occupancy and waves. What the compiler did not report stays
/// unknown.
MetricSet metrics_of_launch(const ports::KernelResources& resources, const LaunchShape& shape,
                            const arch::Target& target);

/// What a kernel uses already, from the instructions of its entry and of all functions beside it.
/// An entry that is not in the text gives nothing; an empty name means all entries.
MetricSet metrics_of_ptx(std::string_view ptx, std::string_view entry);

/// What a reference computes.
MetricSet metrics_of_graph(const graph::Graph& graph);

/// The least a call must move, and what it launches. 0: not known.
struct CallFacts {
  double bytes_min = 0, output_bytes = 0;
  int launches = 0;
  double launch_us = 0, call_us = 0;
};
/// Adds traffic_ratio, write_ratio, launches and launch_overhead_pct as far as the set and the
/// facts allow.
void add_call_facts(MetricSet& metrics, const CallFacts& facts);

}  // namespace kw::profile
