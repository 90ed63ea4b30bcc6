// Matches the parameters of a foreign launcher with a task's tensors, dims and scalars, and makes
// the arguments of a call at one shape. Matches without a name are noted.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "cuda_import/types.h"
#include "graph/graph.h"
#include "host_recording/recording_job.h"
#include "host_recording/transplant.h"
#include "task/task.h"

namespace kw::host_recording {

struct LauncherAbi {
  std::vector<TensorLine> tensors;  // the task's inputs, then outputs that are not inputs
  struct Slot {
    int tensor = -1;                   // or
    std::vector<std::string> factors;  // the product of these dims and numbers, or
    std::vector<uint8_t> bytes;        // these
    cuda_import::CType type;
    bool torch = false;                          // a tensor with its type and shape
    std::optional<task::CallValue> value = {};   // not a tensor: words (shim/kw_bindings.cuh)
    std::optional<task::TensorSpec> spare = {};  // a tensor whose values are not used
  };
  std::vector<Slot> slots;  // parallel to the launcher's parameters
  std::vector<std::string> notes;
};

/// `numbers` are from the user: "rows" -> "B", "n" -> "B*D", "eps" -> "1e-5". An input Error names
/// the parameters without a match.
Result<LauncherAbi> match_launcher(const std::vector<cuda_import::CParameter>& parameters,
                                   const task::Task& task, const graph::Graph& graph,
                                   const std::map<std::string, std::string>& numbers);

/// The arguments of the task's own harness (task.call), and their kinds in the words of
/// host_recording/shim/kw_bound_call.cuh.
struct HarnessCall {
  LauncherAbi abi;
  std::string arguments;  // "t(tt)w"
};
HarnessCall match_harness(const task::Task& task, const graph::Graph& graph);

/// The task's tensors as plan lines, without a launcher.
std::vector<TensorLine> task_tensors(const task::Task& task, const graph::Graph& graph);

/// The call at one shape.
Result<Case> call_at(const LauncherAbi& abi, const task::Task& task, const graph::Graph& graph,
                     const task::Dims& dims);

}  // namespace kw::host_recording
