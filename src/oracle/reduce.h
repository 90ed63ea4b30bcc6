// Sum, Prod, Max and Min over any dims, fed chunk by chunk.
#pragma once

#include "oracle/program.h"

namespace kw::oracle {

/// How the work is shared; results do not depend on it.
struct Workers {
  int threads = 1;
  bool tf32 = false;
};

/// Fills `out`, which has the node's shape and tracks.
void reduce(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);

}  // namespace kw::oracle
