// Simplifies exact quotients of dims. A reference that splits rows into groups of four has extents
// D / 4. The graph does not tell that 4 * (D / 4) is D. If it is, rows are contiguous and their
// index needs no division.
#pragma once

#include <optional>

#include "task/task.h"
#include "text/graph_names.h"

namespace kw::generate {

/// The graph with every divided dim as a multiple of its quotient, guarded by "D % 4 == 0". Empty
/// if no quotient is exact at these dims.
std::optional<Graph> with_even_quotients(const Graph& graph, const task::Dims& dims);

}  // namespace kw::generate
