// Which tensor of a module is which of the task's, and what the module's own names are worth at a
// concrete shape. An input Error here is the reason for which a candidate does not fit.
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

namespace kw::gate {

/// Parallel to the module's tensors. Indices into the graph's inputs and outputs; -1: none.
struct TensorMatch {
  int input = -1;
  int output = -1;
};

struct Matching {
  std::vector<TensorMatch> tensors;
  std::set<std::string> absent;    // optional inputs of the module that the task does not have
  std::vector<std::string> notes;  // "the module's 'a' is taken for the task's 'x' (by position)"
};

/// Inputs by name, then by position; outputs likewise. Names and dtypes only, so one matching
/// serves every shape.
Result<Matching> match_tensors(const kernel::Module& module, const task::Task& task,
                               const graph::Graph& graph);

/// Values of the module's dims and scalars at one shape of the task. `fixed` has target, tunables
/// and device numbers already.
Result<kernel::Bindings> bind_shape(const kernel::Module& module, const Matching& matching,
                                    const task::Task& task, const graph::Graph& graph,
                                    const task::Dims& dims, const kernel::Bindings& fixed);

}  // namespace kw::gate
