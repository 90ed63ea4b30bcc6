// Casts to narrower floats that the author wrote. They are part of the program; casts inside
// PyTorch's functions only say in which precision it computes.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace kw::graph {

/// Whether this is a cast of wider floats to fp16 or bf16: x.half(), x.to(dtype). A kernel may
/// round there or keep more precision.
bool is_written_narrowing(const Graph& graph, const Node& cast);

/// Whether this is a cast to a float of 8 bits that loses some. PyTorch has no function that does
/// it inside.
bool is_cast_to_byte(const Graph& graph, const Node& cast);

/// Returns the nodes whose values are computed with, not only moved to outputs.
std::vector<bool> nodes_computed_with(const Graph& graph);

/// Returns the casts to floats of 8 bits that are computed with. Their rounding is the purpose of
/// the program, as in fake quantisation, so it is a step like floor(). What is only stored needs no
/// step: its last rounding is judged as such.
std::vector<bool> snapping_casts(const Graph& graph);

}  // namespace kw::graph
