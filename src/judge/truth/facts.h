// What is known of every node before anything is computed: its extents, whether the outputs need
// it, which errors it carries, and whether its value is exact.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "truth/mode.h"
#include "truth/values.h"

namespace kw::truth {

/// How a node's declared value follows from its fp64 value.
enum class Exactness : uint8_t {
  Open,     // arithmetic was rounded on the way
  Rounded,  // it is the fp64 value rounded once to the node's dtype
  Exact     // it is the fp64 value
};

struct NodeFacts {
  Extents shape;
  bool needed = false;
  Tracks tracks;
  Exactness exactness = Exactness::Open;
  tensor::DType grid = tensor::DType::Fp32;  // a format that holds every value of an Exact node
};

/// Errors are carried in the mode Truth only.
std::vector<NodeFacts> gather_facts(const graph::Graph& graph, Mode mode, bool tf32);

/// Whether some sum adds up half roundings: their errors may be alike, so that the mode HalfOnly
/// has something to say.
bool sums_half_errors(const graph::Graph& graph, const std::vector<NodeFacts>& facts);

/// Whether every value of `from` is a value of `to`.
bool holds(tensor::DType to, tensor::DType from);

}  // namespace kw::truth
