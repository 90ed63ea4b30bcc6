// The range of values that a node of a graph can have, by interval arithmetic. The range may be too
// wide but is never too narrow. It serves promises about inputs; the oracle has its own error
// bounds.
#pragma once

#include <cmath>
#include <functional>
#include <map>

#include "graph/graph.h"

namespace kw::frontend {

/// Every value lies within the interval; `open` excludes `low` itself.
struct Interval {
  double low = -HUGE_VAL, high = HUGE_VAL;
  bool open = false;

  bool known() const { return low > -HUGE_VAL || high < HUGE_VAL; }
};

using NodeLookup = std::function<const graph::Node&(graph::NodeId)>;

/// `given`: the known intervals of some nodes, for instance of inputs.
Interval interval_of(const NodeLookup& nodes, graph::NodeId id,
                     const std::map<graph::NodeId, Interval>& given);

}  // namespace kw::frontend
