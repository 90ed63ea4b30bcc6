// Translates a graph at one shape into device code: one module with launches and buffers. Every
// node that the interpreter stores whole gets a kernel. Nothing is compiled or run here.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "ports/device.h"
#include "ports/oracle.h"
#include "truth/facts.h"
#include "truth_gpu/gpu_source.h"

namespace kw::truth_gpu {

/// Bits of the status word that the kernels write.
inline constexpr uint32_t kFoundOutOfRange = 1, kFoundJumps = 2, kFoundMistake = 4,
                          kFoundUnbounded = 8;

struct GpuPlan {
  std::string source;
  std::vector<std::string> kernels;     // name expressions, parallel to program.launches
  kernel::Program program;              // first the graph's inputs; entries are set later
  int found = -1;                       // index of the status buffer: one uint32
  std::vector<NodeBuffers> outputs;     // per graph output
  std::vector<truth::NodeFacts> facts;  // per graph output
  uint64_t bytes = 0;                   // size of all buffers
};

/// Returns an Error that names what has no device code.
Result<GpuPlan> plan_on_gpu(const graph::Graph& graph, const ports::TruthOptions& options);

}  // namespace kw::truth_gpu
