// Properties of every node that are known before computing: its extents, whether the outputs need
// it, which errors it has, and whether its value is exact.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "truth/mode.h"
#include "truth/values.h"

namespace kw::truth {

/// How a node's declared value relates to its fp64 value.
enum class Exactness : uint8_t {
  Open,     // earlier arithmetic was rounded
  Rounded,  // the fp64 value, rounded once to the node's dtype
  Exact     // equal to the fp64 value
};

struct NodeFacts {
  Extents shape;
  bool needed = false;
  /// A cast to a float of 8 bits, and a value is computed from the result: the rounding belongs to
  /// the program. What is only stored is compared with its own last rounding instead.
  bool snaps = false;
  Tracks tracks;
  Exactness exactness = Exactness::Open;
  tensor::DType grid = tensor::DType::Fp32;  // a format that holds every value of an Exact node
  /// The number of terms of a sum or matrix product, also when it is seen through views, casts and
  /// additions; 1 for other nodes. A kernel may continue such a sum: it may start with the bias.
  double terms = 1;
};

/// Errors are tracked only in the mode Truth.
std::vector<NodeFacts> gather_facts(const graph::Graph& graph, Mode mode, bool tf32);

/// Returns whether the mode HalfOnly is needed: some op sums half rounding errors, which may all
/// have the same sign, or the author wrote a cast to a half type and the program computes with the
/// result. A kernel that rounds there is right, even if its rounding errors are not small on
/// average.
bool needs_half_pass(const graph::Graph& graph, const std::vector<NodeFacts>& facts);

/// Returns whether every value of `from` is a value of `to`.
bool holds(tensor::DType to, tensor::DType from);

}  // namespace kw::truth
