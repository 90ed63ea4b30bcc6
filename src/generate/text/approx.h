// Writes parts of a graph with cheaper device functions: single functions and small patterns of
// fp32 arithmetic (tanh(log1p(exp x)), 1 + erf u …). Each stays within the error bound of what it
// replaces (docs/error-bound.md); tests/codegen proves this over all fp16 and bf16 inputs. fp64 and
// integers are never changed.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "text/graph_names.h"

namespace kw::generate {

/// An expression for a node over the values of other nodes.
struct Shortcut {
  std::string expression;              // "{0} * fast_sigmoid(2.0f * {1})"; a float
  std::vector<NodeId> arguments;       // the nodes for {0}, {1} …, as floats
  std::vector<std::string> functions;  // device functions it calls
};

/// Empty if the plain form is the best one known.
std::optional<Shortcut> find_shortcut(const Graph& graph, NodeId node);

/// The tunable for all approximations: 1 uses the fast functions, 0 CUDA's own.
inline constexpr const char* kFastMath = "FAST_MATH";

/// Definitions of these functions and of those they need, each before its users. They use the
/// tunable FAST_MATH.
std::string device_functions(const std::set<std::string>& names);

}  // namespace kw::generate
