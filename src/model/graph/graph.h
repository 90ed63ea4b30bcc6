// What a reference computes: a list of primitive operations over typed tensors. A plain value that
// can be copied, compared by its printed form, and hashed. Built by builder.h, checked by verify().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/dim.h"
#include "graph/op.h"
#include "tensor/dtype.h"

namespace kw::graph {

using NodeId = int32_t;

enum class ScatterMode : uint8_t { Set, Add, Multiply, Max, Min };

/// What an op needs beside its inputs; which fields count is said in op.h.
struct Attrs {
  std::vector<int> dims;    // 0 <= d < rank
  std::vector<Dim> starts;  // of a Constant: nothing, or the expression its number follows from
  std::vector<int64_t> steps;
  double number = 0;
  int64_t integer = 0;
  bool reverse = false, exclusive = false, descending = false;
  ScatterMode scatter = ScatterMode::Set;
};

struct Node {
  Op op = Op::Constant;
  std::vector<NodeId> inputs;  // all smaller than this node's own id
  tensor::DType dtype = tensor::DType::Fp32;
  Shape shape;
  Attrs attrs;
  std::string origin;        // what the author wrote: "softmax", "x + 1"
  int line = 0, column = 0;  // in the reference; 0: nowhere
};

struct NamedNode {
  std::string name;
  NodeId node = 0;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<NamedNode> inputs;    // parameters in order; every one is an Input node
  std::vector<NamedNode> outputs;   // in the order returned
  std::vector<std::string> guards;  // what the trace assumed of the dims: "D % 2 == 0"

  const Node& operator[](NodeId id) const { return nodes[static_cast<size_t>(id)]; }
};

/// Structure, arity, dtypes and shapes are what op.h says. An Error here is a bug of a pass or
/// builder.
Status verify(const Graph& graph);

/// One line per node: "%3: fp32[B, 1] = sum(%2) dims=[1]  # softmax, line 4".
std::string print(const Graph& graph);

/// Only nodes the outputs need, inputs kept, equal nodes merged. Keeps order.
Graph simplify(const Graph& graph);

}  // namespace kw::graph
