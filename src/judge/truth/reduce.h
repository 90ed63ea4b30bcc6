// Sum, Prod, Max and Min over any dims, computed chunk by chunk.
#pragma once

#include "truth/chunk_program.h"

namespace kw::truth {

/// The number of threads; results do not depend on it.
struct Workers {
  int threads = 1;
  bool tf32 = false;
  int serial = 0;  // ports::TruthOptions::serial
};

/// The term with which a chain of `count` terms begins in one of the orders of
/// ports::TruthOptions::serial, which count from 1.
inline int first_term(int count, int serial) { return count * ((serial - 1) % 8) / 8; }

/// How a reduction reads its input: [outer kept, reduced, inner kept].
struct ReduceLayout {
  std::vector<int> order;  // order of the input's dims
  int64_t outer = 1, reduced = 1, inner = 1;
};
ReduceLayout reduce_layout(const graph::Node& node, const Extents& shape);

/// Fills `out`, which has the node's shape and tracks.
void reduce(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);

}  // namespace kw::truth
