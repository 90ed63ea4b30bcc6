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
  Tracks tracks;
  Exactness exactness = Exactness::Open;
  tensor::DType grid = tensor::DType::Fp32;  // a format that holds every value of an Exact node
  /// The number of terms of a sum or matrix product, also when it is seen through views, casts and
  /// additions; 1 for other nodes. A kernel may continue such a sum: it may start with the bias.
  double terms = 1;
};

/// Errors are tracked only in the mode Truth.
std::vector<NodeFacts> gather_facts(const graph::Graph& graph, Mode mode, bool tf32);

/// Returns whether some op sums half rounding errors. These may all have the same sign, so the mode
/// HalfOnly is needed.
bool sums_half_errors(const graph::Graph& graph, const std::vector<NodeFacts>& facts);

/// Returns whether every value of `from` is a value of `to`.
bool holds(tensor::DType to, tensor::DType from);

}  // namespace kw::truth
