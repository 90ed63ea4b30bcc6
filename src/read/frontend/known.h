// Numbers that a trace knows without running: elements of torch.linspace, of literals, of what is
// computed from them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/builder.h"

namespace kw::frontend {

/// The element at this place, rounded as its dtype; nothing when only the run knows.
std::optional<double> known_element(const graph::Builder& graph, graph::NodeId node,
                                    std::vector<int64_t> at);

}  // namespace kw::frontend
