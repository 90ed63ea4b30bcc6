// The dtype and shape of a node, given its inputs. The builder fills them in with it, and verify()
// checks them.
#pragma once

#include <span>
#include <string>

#include "core/result.h"
#include "graph/graph.h"

namespace kw::graph {

struct Signature {
  DType dtype = DType::Fp32;
  Shape shape;
};

/// dtype and shape of `node`, whose inputs are among `nodes`. Some ops carry what cannot be
/// inferred: Input, Constant, Iota, Philox, the dtype of Cast, the shapes of Reshape, Expand,
/// Slice, Pad, Window, Fold and TopK*. These are checked and kept. The input Error names the broken
/// rule; verify() reports it as a bug.
Result<Signature> infer(std::span<const Node> nodes, const Node& node);

/// "fp32[B, D]".
std::string signature_text(DType dtype, const Shape& shape);

}  // namespace kw::graph
