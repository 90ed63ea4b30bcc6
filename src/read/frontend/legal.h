// Which values an input may have: what get_inputs() promises, read off the graph that makes them
// (torch.rand() is within [0, 1], triu() upper triangular), and what the reference itself needs (an
// index must stay below the extent it indexes).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/evaluator.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "task/task.h"

namespace kw::frontend {

/// What get_inputs() promises about a tensor it made.
task::Legal legal_of(const graph::Builder& graph, graph::NodeId node,
                     const std::vector<Drawn>& drawn);

/// torch.rand() alone promises nothing the author meant: its range holds only where the reference
/// would leave the domain of a function without it (a logarithm, a root).
bool range_matters(const graph::Graph& graph, graph::NodeId input);

/// What a logarithm of the input itself needs of it, where nothing was promised: log(x) positive
/// values, log(x) beside log(1 - x) probabilities.
void keep_in_domain(task::Legal& legal, const graph::Graph& graph, graph::NodeId input);

/// For every integer input that picks elements: the extent it must stay below.
std::map<std::string, graph::Dim> index_bounds(const graph::Graph& graph);
/// Sets the bound, by the dim's name where the extent is one.
void set_below(task::Legal& legal, const graph::Dim& extent);

}  // namespace kw::frontend
