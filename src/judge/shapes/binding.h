// Matches a module's tensors with the task's, and computes the module's dims and scalars at one
// shape. An input Error is the reason why a candidate does not fit the task.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "kernel/module.h"
#include "kernel/select.h"
#include "task/task.h"

namespace kw::shapes {

/// Parallel to the module's tensors. Indices into the graph's inputs and outputs; -1: no match.
struct TensorMatch {
  int input = -1;
  int output = -1;
};

struct Matching {
  std::vector<TensorMatch> tensors;
  std::set<std::string> absent;  // optional inputs of the module that the task lacks
  std::vector<std::string>
      notes;  // such as "the module's 'a' is matched with the task's 'x' (by …)"
};

/// Matches inputs by name, then by position; outputs likewise. It uses names, dtypes and ranks
/// only, so one matching is valid for every shape.
Result<Matching> match_tensors(const kernel::Module& module, const task::Task& task,
                               const graph::Graph& graph);

/// Returns the values of the module's dims and scalars at one shape of the task. `fixed` already
/// has the target, the tunables and the device's limits.
Result<kernel::Bindings> bind_shape(const kernel::Module& module, const Matching& matching,
                                    const task::Task& task, const graph::Graph& graph,
                                    const task::Dims& dims, const kernel::Bindings& fixed);

}  // namespace kw::shapes
