// Finds scores that a mask hides from every query, if the mask compares positions.
#pragma once

#include <optional>

#include "emit/emit.h"

namespace kw::generate {

/// Scores that are -inf at every key after `row + reach`.
struct Causal {
  NodeId below = 0;  // the scores before the mask
  Dim reach{0};
};

/// `index` is the index of the element at row "mi" and key "ni".
std::optional<Causal> causal_of(const Region& region, NodeId scores, const Index& index,
                                const Ranges& ranges);

/// The number that a node has at all elements; empty if it is not constant.
std::optional<double> constant_of(const Region& region, NodeId node);

}  // namespace kw::generate
