// Resizing along one dim: each element of the result is mapped to a position in the input.
// Positions are integers, so that rounding cannot change them. Distances between elements are
// computed in fp32, as kernels do.
#pragma once

#include <optional>

#include "graph/builder.h"

namespace kw::graph {

/// Element i of the result lies at i * step, with step = num / den. num and den are the extents of
/// input and result, or come from a scale factor.
struct Resize {
  Dim size = 1;
  Dim num = 1, den = 1;
  double step = 1;  // num / den
};
/// From the two extents.
Resize resize_to(const Dim& extent, const Dim& size);
/// From a factor; not set when the factor is not a ratio of small integers.
std::optional<Resize> resize_by(const Dim& extent, double factor);

/// `exact`: uses the centres of the elements.
Result<NodeId> nearest(Builder& b, NodeId x, int dim, const Resize& to, bool exact);
/// x must already have the type to compute in. `corners`: the first and last elements coincide.
Result<NodeId> linear_between(Builder& b, NodeId x, int dim, const Resize& to, bool corners);
Result<NodeId> cubic_between(Builder& b, NodeId x, int dim, const Resize& to, bool corners);

}  // namespace kw::graph
