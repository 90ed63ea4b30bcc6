// The range of values a node of a graph can have, by interval arithmetic. Wide where it does not
// know, never too narrow. For promises about inputs; error bounds are the oracle's business.
#pragma once

#include <cmath>
#include <functional>
#include <map>

#include "graph/graph.h"

namespace kw::frontend {

/// Every value lies within; `open` excludes `low` itself.
struct Interval {
  double low = -HUGE_VAL, high = HUGE_VAL;
  bool open = false;

  bool known() const { return low > -HUGE_VAL || high < HUGE_VAL; }
};

using NodeLookup = std::function<const graph::Node&(graph::NodeId)>;

/// `given`: what is known of some nodes, inputs for instance.
Interval interval_of(const NodeLookup& nodes, graph::NodeId id,
                     const std::map<graph::NodeId, Interval>& given);

}  // namespace kw::frontend
