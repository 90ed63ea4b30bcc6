// Compares our evaluation of a reference with PyTorch's on the same inputs. If they differ beyond
// the bound, it names the op. The caller's judge compares the tensors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "ports/oracle.h"
#include "torch_worker/torch_process.h"

namespace kw::torch_worker {

/// Returns "" when the tensor is right by this truth, otherwise why not, with the worst element.
using Judge = std::function<std::string(const ports::Truth& truth, const tensor::HostTensor& got)>;

struct CrossCheck {
  const graph::Graph* graph = nullptr;
  const std::vector<tensor::HostTensor>* inputs = nullptr;  // parallel to graph->inputs
  TorchCall call;  // the same inputs for PyTorch, on any device
  ports::TruthOptions options;
  Judge judge;
  double timeout_seconds = 120;
};

/// One output in which the two differ, and the step that caused it.
struct Mismatch {
  std::string output;  // the output that is wrong
  std::string why;     // the judge's reason, or that dtype or shape differ
  // The first wrong step in the order of evaluation; line 0: no step could be blamed.
  int line = 0, column = 0;
  std::string ours;      // "softmax(x, dim=-1)"
  std::string torchs;    // "torch.nn.functional.softmax"
  std::string step_why;  // the judge's reason for the step
};

struct CrossChecked {
  TorchOutcome outcome;  // of PyTorch's evaluation; mismatches are valid only when Ok
  std::vector<Mismatch> mismatches;
  std::string missed;  // where PyTorch misses a tolerance that the task states; "" if nowhere

  bool agree() const { return outcome.kind == TorchKind::Ok && mismatches.empty(); }
};

/// Error: the oracle could not evaluate the graph.
Result<CrossChecked> cross_check(const CrossCheck& check, ports::Oracle& oracle,
                                 TorchProcess& torch);

/// "out: y[3] is 2, not 1; they differ first at line 4, column 9: softmax(x) (torch.softmax): …".
std::string mismatch_text(const Mismatch& mismatch);

/// A step of PyTorch's evaluation and our node that should hold the same value.
struct StepPair {
  size_t step = 0;
  graph::NodeId node = 0;
};
/// Pairs steps and nodes by place in the source, then by order there; only of equal dtype and
/// shape. `steps` is the "steps" list of a "trace" answer, `values` its outputs.
std::vector<StepPair> pair_steps(const graph::Graph& graph, const Json& steps,
                                 const std::vector<TorchTensor>& values);

}  // namespace kw::torch_worker
