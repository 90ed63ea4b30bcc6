// How precise a plain fp32 evaluation of a task is, on inputs whose order does not matter. The
// bound of a long sum must hold for every order of its terms, so it is far above what sums of
// random terms give: products in tf32 or bf16 fit below it. Their errors are still hundreds of
// times those of fp32, and that shows here.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "ports/oracle.h"
#include "task/task.h"
#include "tensor/host_tensor.h"

namespace kw::gate {

/// Whether the rule applies: fp32 throughout, sums of many terms, a family of random values in no
/// order.
bool has_plain_error(const task::Task& task, const graph::Graph& graph, const std::string& family);

/// Sets Truth::plain_z of every fp32 output.
Status add_plain_error(ports::Oracle& oracle, const task::Task& task, const graph::Graph& graph,
                       const std::vector<tensor::HostTensor>& inputs, ports::TruthOptions options,
                       std::vector<ports::Truth>& truths);

/// Whether the task states an atol or rtol.
bool has_tolerance(const task::Task& task);

/// Sets Truth::plain_max_z of every output: a stated tolerance that plain evaluations cannot keep on
/// these inputs is widened to what they need.
Status add_largest_plain_error(ports::Oracle& oracle, const task::Task& task,
                               const graph::Graph& graph,
                               const std::vector<tensor::HostTensor>& inputs,
                               ports::TruthOptions options, std::vector<ports::Truth>& truths);

}  // namespace kw::gate
