// Resizing along one dim: every element of the result looks at its place in the input. Places are
// counted in whole numbers, so that none is lost to rounding; the distances between elements are
// computed in fp32, as kernels do.
#pragma once

#include <optional>
#include <utility>

#include "graph/builder.h"

namespace kw::graph {

/// Element i of the result lies at i * step, where step = num / den: the extents of input and
/// result, or what a scale factor says.
struct Resize {
  Dim size = 1;
  Dim num = 1, den = 1;
  double step = 1;  // num / den
};
/// By the two extents.
Resize resize_to(const Dim& extent, const Dim& size);
/// By a factor; nothing for one that is no ratio of small numbers.
std::optional<Resize> resize_by(const Dim& extent, double factor);

/// `exact`: of the middles of the elements.
Result<NodeId> nearest(Builder& b, NodeId x, int dim, const Resize& to, bool exact);
/// x must have the type to compute in. `corners`: first and last elements meet.
Result<NodeId> linear_between(Builder& b, NodeId x, int dim, const Resize& to, bool corners);
Result<NodeId> cubic_between(Builder& b, NodeId x, int dim, const Resize& to, bool corners);

}  // namespace kw::graph
