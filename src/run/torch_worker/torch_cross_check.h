// Our meaning of a reference against PyTorch's own: both evaluate it on the same inputs, and where
// they part beyond the bound, the op is named. Judging one tensor is the caller's business.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "ports/oracle.h"
#include "torch_worker/torch_process.h"

namespace kw::torch_worker {

/// "" when the tensor is right by this truth, else why not, with the worst element.
using Judge = std::function<std::string(const ports::Truth& truth, const tensor::HostTensor& got)>;

struct CrossCheck {
  const graph::Graph* graph = nullptr;
  const std::vector<tensor::HostTensor>* inputs = nullptr;  // parallel to graph->inputs
  TorchCall call;  // the same inputs for PyTorch, on any device
  ports::TruthOptions options;
  Judge judge;
  double timeout_seconds = 120;
};

/// Where the two part.
struct Parting {
  std::string output;  // the output that is wrong
  std::string why;     // what the judge said of it, or that dtype or shape differ
  // The first step in the order of evaluation that is wrong; line 0: no step could be blamed.
  int line = 0, column = 0;
  std::string ours;      // "softmax(x, dim=-1)"
  std::string torchs;    // "torch.nn.functional.softmax"
  std::string step_why;  // what the judge said of it
};

struct CrossChecked {
  TorchOutcome outcome;  // of PyTorch's evaluation; partings mean something when Ok only
  std::vector<Parting> partings;

  bool agree() const { return outcome.kind == TorchKind::Ok && partings.empty(); }
};

/// Error: the oracle could not evaluate the graph.
Result<CrossChecked> cross_check(const CrossCheck& check, ports::Oracle& oracle,
                                 TorchProcess& torch);

/// "out: y[3] is 2, not 1; they part at line 4, column 9: softmax(x) (torch.softmax): …".
std::string parting_text(const Parting& parting);

/// A step of PyTorch's evaluation and the node of ours that should hold the same.
struct StepPair {
  size_t step = 0;
  graph::NodeId node = 0;
};
/// Pairs by place in the source, then by order there; only of equal dtype and shape. `steps` is the
/// body of a "trace" answer, `values` its outputs.
std::vector<StepPair> pair_steps(const graph::Graph& graph, const Json& steps,
                                 const std::vector<TorchTensor>& values);

}  // namespace kw::torch_worker
