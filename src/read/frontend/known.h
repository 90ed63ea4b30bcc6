// Numbers that a trace knows before the run: elements of torch.linspace, of literals, and of what
// is computed from them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/builder.h"

namespace kw::frontend {

/// The element at this position, rounded to its dtype; not set when it is unknown before the run.
std::optional<double> known_element(const graph::Builder& graph, graph::NodeId node,
                                    std::vector<int64_t> at);

}  // namespace kw::frontend
