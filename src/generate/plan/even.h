// Quotients of dims that come out even. A reference that cuts rows into groups of four speaks of
// D / 4, and nothing says that four of them are D; where they are, rows lie side by side and need
// no division to be found.
#pragma once

#include <optional>

#include "graph/graph.h"
#include "task/task.h"

namespace kw::generate {

/// The graph with every dim that is divided as a multiple of its quotient, guarded by "D % 4 == 0".
/// Nothing where no quotient comes out even at these dims.
std::optional<graph::Graph> with_even_quotients(const graph::Graph& graph, const task::Dims& dims);

}  // namespace kw::generate
