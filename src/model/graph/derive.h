// Reverse-mode derivatives: from what a reference computes to what its gradients are. The result is
// a graph like any other; ties, masks and roundings are those of PyTorch's autograd.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"

namespace kw::graph {

struct BackwardOptions {
  std::vector<std::string> of;     // inputs whose gradients are asked for; empty: all that have one
  std::vector<std::string> keep;   // inputs the result has even where no gradient needs them
  std::vector<std::string> saved;  // outputs of the forward that are given, not computed again
};

/// Inputs: those of `forward` that a gradient needs or `keep` names, in their order, then the
/// `saved` outputs, then one "grad_NAME" for every float output that has a derivative. Outputs:
/// one "grad_NAME" for every input of `of`. Nothing to differentiate, a name that is no float
/// input, or an op without a derivative here is an input Error.
Result<Graph> backward(const Graph& forward, const BackwardOptions& options = {});

/// Float inputs that an output depends on in a differentiable way, in order.
std::vector<std::string> differentiable_inputs(const Graph& forward);
/// Float outputs that depend on one of these inputs in a differentiable way, in order.
std::vector<std::string> differentiable_outputs(const Graph& forward,
                                                const std::vector<std::string>& inputs);

class Builder;
/// x as a constant to derivatives: a marked node. Integers and bool are constants anyway.
Result<NodeId> detach(Builder& b, NodeId x);
bool is_detached(const Node& node);
/// The same graph for whoever takes no derivative.
Graph without_marks(const Graph& graph);

/// "grad_y".
std::string gradient_name(const std::string& of);

}  // namespace kw::graph
