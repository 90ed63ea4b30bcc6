// Movement ops that strides cannot express (padding, joining, overlapping, indexing), and random
// numbers.
#pragma once

#include "truth/chunk_program.h"
#include "truth/reduce.h"

namespace kw::truth {

void pad(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);
void concat(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);
/// How a Fold reads its input: [position in the window, outer, windows, inner].
struct FoldLayout {
  std::vector<int> order;  // order of the input's dims
  int64_t inside = 1, outer = 1, windows = 1, inner = 1;
  int64_t extent = 1;  // extent of the folded dim
};
FoldLayout fold_layout(const graph::Node& node, const Extents& from);
/// Fold: sums the elements where windows overlap.
void overlap_add(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);

/// Gather, IndexSelect, Scatter. An index out of range is an input Error with PyTorch's wording.
Status gather(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);
Status index_select(const Sources& sources, graph::NodeId node, const Workers& workers,
                    Tensor& out);
Status scatter(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);

/// Uniform numbers from seed and offset, as defined in docs/graph.md.
void philox(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);

/// One block of Philox 4x32-10.
struct PhiloxBlock {
  uint32_t word[4];
};
PhiloxBlock philox_block(uint64_t key, uint64_t counter_low, uint64_t counter_high);

}  // namespace kw::truth
