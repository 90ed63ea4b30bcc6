// Skips reshapes of contiguous results: positions stay the same, so the node before a reshape can
// replace it.
#pragma once

#include "emit/region.h"

namespace kw::generate {

/// The node before any reshapes that this region computes.
inline NodeId before_reshapes(const Region& region, NodeId id) {
  while (region.loads.count(id) == 0 && region.node(id).op == Op::Reshape) {
    id = region.node(id).inputs[0];
  }
  return id;
}

}  // namespace kw::generate
