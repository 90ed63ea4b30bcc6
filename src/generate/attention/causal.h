// Scores that no query may see: known from the graph where a mask compares places.
#pragma once

#include <optional>

#include "emit/emit.h"

namespace kw::generate {

/// Scores that are -inf at every key beyond `row + reach`.
struct Causal {
  graph::NodeId below = 0;  // the scores up to there
  Dim reach{0};
};

/// `index` is of the element at row "mi" and key "ni".
std::optional<Causal> causal_of(const Region& region, graph::NodeId scores, const Index& index,
                                const Ranges& ranges);

/// The number a node has everywhere, where it is one.
std::optional<double> constant_of(const Region& region, graph::NodeId node);

}  // namespace kw::generate
