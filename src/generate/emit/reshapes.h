// Contiguous results keep their positions through reshapes, so what stands before them serves.
#pragma once

#include "emit/region.h"

namespace kw::generate {

/// The node under any reshapes that this region computes.
inline graph::NodeId before_reshapes(const Region& region, graph::NodeId id) {
  while (region.loads.count(id) == 0 && region.node(id).op == graph::Op::Reshape) {
    id = region.node(id).inputs[0];
  }
  return id;
}

}  // namespace kw::generate
