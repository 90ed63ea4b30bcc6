// Reverse-mode derivatives: turns the graph of a reference into the graph of its gradients. Ties,
// masks and roundings follow PyTorch's autograd.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"

namespace kw::graph {

struct BackwardOptions {
  std::vector<std::string> of;     // inputs to differentiate by; empty: all that have a gradient
  std::vector<std::string> keep;   // inputs that the result has even if no gradient needs them
  std::vector<std::string> saved;  // outputs of the forward that are given, not recomputed
};

/// Inputs: those of `forward` that a gradient needs or `keep` names, in their order. Then come the
/// `saved` outputs, then one "grad_NAME" for every float output that has a derivative. Outputs: one
/// "grad_NAME" for every input in `of`. Input Error when no output can be differentiated, a name is
/// not a float input, or an op has no derivative.
Result<Graph> backward(const Graph& forward, const BackwardOptions& options = {});

/// Float inputs that an output depends on in a differentiable way, in order.
std::vector<std::string> differentiable_inputs(const Graph& forward);
/// Float outputs that depend on one of these inputs in a differentiable way, in order.
std::vector<std::string> differentiable_outputs(const Graph& forward,
                                                const std::vector<std::string>& inputs);

class Builder;
/// Marks x as a constant for derivatives. Integers and bool are always constants.
Result<NodeId> detach(Builder& b, NodeId x);
bool is_detached(const Node& node);
/// The same graph without marks, for users that take no derivative.
Graph without_marks(const Graph& graph);

/// "grad_y".
std::string gradient_name(const std::string& of);

}  // namespace kw::graph
