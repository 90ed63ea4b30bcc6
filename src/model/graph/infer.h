// What a node must look like, given its inputs: the rules of op.h as code. Used by the builder to
// fill in dtypes and shapes, and by verify() to check them.
#pragma once

#include <span>
#include <string>

#include "core/result.h"
#include "graph/graph.h"

namespace kw::graph {

struct Signature {
  tensor::DType dtype = tensor::DType::Fp32;
  Shape shape;
};

/// dtype and shape of `node`, whose inputs are among `nodes`. Ops that carry what cannot be
/// inferred (Input, Constant, Iota, Philox, Cast's dtype, the shapes of Reshape, Expand, Slice, Pad
/// and TopK*) keep what the node says, checked. The Error says which rule is broken, without blame.
Result<Signature> infer(std::span<const Node> nodes, const Node& node);

/// "fp32[B, D]".
std::string signature_text(tensor::DType dtype, const Shape& shape);

}  // namespace kw::graph
