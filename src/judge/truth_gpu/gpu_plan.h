// A graph at one shape as device code: one kernel per node that the interpreter computes whole, in
// one module, with the launches and the buffers they need. Nothing is compiled or run here.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "ports/device.h"
#include "ports/oracle.h"
#include "truth/facts.h"
#include "truth_gpu/gpu_source.h"

namespace kw::truth_gpu {

/// Bits of the word the kernels leave behind.
inline constexpr uint32_t kFoundOutOfRange = 1, kFoundJumps = 2, kFoundMistake = 4;

struct GpuPlan {
  std::string source;
  std::vector<std::string> kernels;  // name expressions, parallel to program.launches
  kernel::Program program;           // its first buffers are the graph's inputs; entries are empty
                                     // until the source is compiled
  int found = -1;                    // the buffer of what kernels found: one uint32
  std::vector<NodeBuffers> outputs;  // per graph output
  std::vector<truth::NodeFacts> facts;  // per graph output
  uint64_t bytes = 0;                   // of all buffers
};

/// An Error says what there is no device code for.
Result<GpuPlan> plan_on_gpu(const graph::Graph& graph, const ports::TruthOptions& options);

}  // namespace kw::truth_gpu
