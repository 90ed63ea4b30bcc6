// A task's reference as a call for the torch process, and the check that PyTorch and our graph
// agree on it.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "ports/oracle.h"
#include "task/task.h"
#include "tensor/host_tensor.h"
#include "torch_worker/torch_cross_check.h"

namespace kw::verification {

/// The call at these dims. `inputs` is parallel to graph.inputs and must outlive the call.
/// Environment Error when the reference is not Python.
Result<torch_worker::TorchCall> torch_call(const task::Task& task, const task::Dims& dims,
                                           const graph::Graph& graph,
                                           const std::vector<tensor::HostTensor>& inputs);

/// The pool for time_baselines(): for each set of inputs, the call's tensors and then its weights.
std::vector<std::vector<const tensor::HostTensor*>> torch_pool(
    const torch_worker::TorchCall& call, const graph::Graph& graph,
    const std::vector<const std::vector<tensor::HostTensor>*>& sets);

/// Where PyTorch evaluates, and for how long at most.
struct CallOptions {
  std::string device = "cpu";
  double timeout_seconds = 120;
  bool edge = false;  // unusual inputs: autograd may give NaN there
};

/// Evaluates the reference both ways. Judges PyTorch's outputs by our truth, like those of a
/// candidate.
Result<torch_worker::CrossChecked> cross_check_task(const task::Task& task, const task::Dims& dims,
                                                    const std::vector<tensor::HostTensor>& inputs,
                                                    ports::Oracle& oracle,
                                                    torch_worker::TorchProcess& torch,
                                                    const CallOptions& options = {});

}  // namespace kw::verification
