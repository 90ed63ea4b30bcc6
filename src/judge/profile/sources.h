// Metrics without a profiler: from counters of the virtual GPU, the compiler and the launch, the
// PTX, and the reference's graph.
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
  int sms = 0;  // of the device; 0: use the target's most common board
};
/// Registers, shared memory, spills, occupancy and waves. Values that the compiler did not report
/// stay unknown.
MetricSet metrics_of_launch(const ports::KernelResources& resources, const LaunchShape& shape,
                            const arch::Target& target);

/// The features a kernel uses, from the instructions of its entry and of all functions that are not
/// entries. Empty when the text has no such entry. An empty name means all entries.
MetricSet metrics_of_ptx(std::string_view ptx, std::string_view entry);

/// What a reference computes, as flags.
MetricSet metrics_of_graph(const graph::Graph& graph);

/// The least bytes of a call, and its launches. 0: unknown.
struct CallFacts {
  double bytes_min = 0, output_bytes = 0;
  int launches = 0;
  double launch_us = 0, call_us = 0;
};
/// Adds traffic_ratio, write_ratio, launches and launch_overhead_pct when their inputs are known.
void add_call_facts(MetricSet& metrics, const CallFacts& facts);

}  // namespace kw::profile
