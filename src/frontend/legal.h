// What get_inputs() promises about the values of an input, read off the graph that makes it:
// torch.rand() is within [0, 1], randint() below its bound, triu() upper triangular.
#pragma once

#include <vector>

#include "frontend/evaluator.h"
#include "graph/builder.h"
#include "task/task.h"

namespace kw::frontend {

task::Legal legal_of(const graph::Builder& graph, graph::NodeId node,
                     const std::vector<Drawn>& drawn);

}  // namespace kw::frontend
