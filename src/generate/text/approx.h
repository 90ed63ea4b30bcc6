// Cheaper ways to say what a graph says: single functions and small patterns of fp32 arithmetic
// (tanh(log1p(exp x)), 1 + erf u …) by approximate device functions. Each stays within the error
// bound of what it replaces (docs/error-bound.md), which tests/codegen proves over all fp16 and
// bf16 inputs; fp64 and integers are never touched.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace kw::generate {

/// How to write a node: an expression over other nodes' values.
struct Shortcut {
  std::string expression;                // "{0} * fast_sigmoid(2.0f * {1})"; a float
  std::vector<graph::NodeId> arguments;  // what {0}, {1} … stand for, as floats
  std::vector<std::string> functions;    // device functions it calls
};

/// Nothing where the plain way is the best one known.
std::optional<Shortcut> find_shortcut(const graph::Graph& graph, graph::NodeId node);

/// The tunable that switches all shortcuts' approximations: 1 for fast, 0 for CUDA's own functions.
inline constexpr const char* kFastMath = "FAST_MATH";

/// Definitions of these functions and of those they need, each before its users. They refer to the
/// tunable FAST_MATH.
std::string device_functions(const std::set<std::string>& names);

}  // namespace kw::generate
