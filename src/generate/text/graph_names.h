// The types of graphs and tensors that the whole district names without their namespaces.
#pragma once

#include "graph/graph.h"

namespace kw::generate {

using graph::Dim;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;
using graph::OpKind;
using graph::Shape;
using tensor::DType;

}  // namespace kw::generate
