// Which parameter of a foreign launcher is which of a task's tensors, dims and scalars, and the
// arguments of a call at one shape. What is taken without
// being named is noted.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "cuda_import/types.h"
#include "graph/graph.h"
#include "host_recording/job.h"
#include "host_recording/transplant.h"
#include "task/task.h"

namespace kw::host_recording {

struct LauncherAbi {
  std::vector<TensorLine> tensors;  // inputs of the task, then outputs that are no inputs
  struct Slot {
    int tensor = -1;                   // or
    std::vector<std::string> factors;  // the product of these dims and numbers, or
    std::vector<uint8_t> bytes;        // these
    cuda_import::CType type;
    bool torch = false;                          // a tensor with its type and shape
    std::optional<task::CallValue> value = {};   // no tensor, as words (shim/kw_bindings.cuh)
    std::optional<task::TensorSpec> spare = {};  // a tensor whose values nobody needs
  };
  std::vector<Slot> slots;  // parallel to the launcher's parameters
  std::vector<std::string> notes;
};

/// `numbers` are the user's: "rows" -> "B", "n" -> "B*D", "eps" -> "1e-5". An input Error names
/// what is open.
Result<LauncherAbi> match_launcher(const std::vector<cuda_import::CParameter>& parameters,
                                   const task::Task& task, const graph::Graph& graph,
                                   const std::map<std::string, std::string>& numbers);

/// The arguments of the task's own harness (task.call), and what they are, in the words of
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
