// The values that an input may have. Some limits are promises of get_inputs(), read from the graph
// that makes its tensors (torch.rand() is within [0, 1], triu() is upper triangular). Other limits
// are needs of the reference (an index must be below the extent it indexes).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/python_tracer.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "task/task.h"

namespace kw::frontend {

/// The promises of get_inputs() about a tensor it made.
task::Legal legal_of(const graph::Builder& graph, graph::NodeId node,
                     const std::vector<Drawn>& drawn);

/// Whether the range of torch.rand() is kept. Usually the file's author did not intend that range.
/// It is kept only if the reference would otherwise leave the domain of a function (a logarithm, a
/// root).
bool range_matters(const graph::Graph& graph, graph::NodeId input);

/// Adds the limits that a logarithm of the input needs, if get_inputs() promised none. log(x) needs
/// positive values; log(x) with log(1 - x) needs probabilities.
void keep_in_domain(task::Legal& legal, const graph::Graph& graph, graph::NodeId input);

/// For every integer input that selects elements: the extent it must be below.
std::map<std::string, graph::Dim> index_bounds(const graph::Graph& graph);
/// Sets the bound; by name if the extent is a dim.
void set_below(task::Legal& legal, const graph::Dim& extent);

}  // namespace kw::frontend
