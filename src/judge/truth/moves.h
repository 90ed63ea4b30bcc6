// Movement that strides cannot express: padding, joining, overlapping, indexing; and the random
// source.
#pragma once

#include "truth/program.h"
#include "truth/reduce.h"

namespace kw::truth {

void pad(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);
void concat(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);
/// How a Fold reads its input: [inside the window, outer, windows, inner].
struct FoldLayout {
  std::vector<int> order;  // of the input's dims
  int64_t inside = 1, outer = 1, windows = 1, inner = 1;
  int64_t extent = 1;  // of the dim the windows are folded along
};
FoldLayout fold_layout(const graph::Node& node, const Extents& from);
/// Fold: a sum wherever windows overlap.
void overlap_add(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);

/// Gather, IndexSelect, Scatter. An index out of range is an input Error in PyTorch's terms.
Status gather(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);
Status index_select(const Sources& sources, graph::NodeId node, const Workers& workers,
                    Tensor& out);
Status scatter(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);

/// Uniform numbers from seed and offset, as docs/graph.md defines them.
void philox(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);

/// One block of Philox 4x32-10.
struct PhiloxBlock {
  uint32_t word[4];
};
PhiloxBlock philox_block(uint64_t key, uint64_t counter_low, uint64_t counter_high);

}  // namespace kw::truth
