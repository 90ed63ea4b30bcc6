// Convolutions as matrix products: the weight times the windows of the input, in fp32 for half
// types, plus the bias, rounded once. The graph with G groups (no dim G when G is 1):
//   patches [N, G, C/G * K…, O…] = reshape(permute(window(window(pad(x)))))
//   y       [N, G, O/G, O…]      = mat_mul(expand(reshape(weight)), patches)
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/builder.h"
#include "graph/compose_window.h"

namespace kw::graph {

/// Every vector has one entry per spatial dim.
struct Conv {
  std::vector<int64_t> stride, dilation;
  std::vector<Dim> before, after;  // zeros around the input
  Dim groups = 1;
};
/// x is [N, C, …] or [C, …]; weight is [O, C / groups, K…].
Result<NodeId> conv(Builder& b, NodeId x, NodeId weight, std::optional<NodeId> bias,
                    const Conv& how);

struct ConvTranspose {
  std::vector<int64_t> stride, dilation, padding, output_padding;
  Dim groups = 1;
};
/// weight is [C, O / groups, K…]. The graph: mat_mul of the weight with the input, then Fold adds
/// the windows into the result, then the padding is sliced away.
Result<NodeId> conv_transpose(Builder& b, NodeId x, NodeId weight, std::optional<NodeId> bias,
                              const ConvTranspose& how);

/// F.unfold: [N, C, …] or [C, …] -> [N, C * K…, O…].
Result<NodeId> im2col(Builder& b, NodeId x, const Spans& spans);
/// F.fold: the inverse mapping, to these spatial extents.
Result<NodeId> col2im(Builder& b, NodeId x, const Spans& spans, const Shape& extents);

}  // namespace kw::graph
