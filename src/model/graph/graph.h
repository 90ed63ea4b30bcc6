// The computation of a reference: a list of primitive operations over typed tensors. It can be
// copied, compared by its printed form, and hashed. builder.h builds it, verify() checks it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/dim.h"
#include "graph/graph_op.h"
#include "tensor/dtype.h"

namespace kw::graph {

using NodeId = int32_t;
using tensor::DType;

enum class ScatterMode : uint8_t { Set, Add, Multiply, Max, Min };

/// The attributes of an op. infer.cpp checks the fields that each op uses.
struct Attrs {
  std::vector<int> dims;    // 0 <= d < rank
  std::vector<Dim> starts;  // of a Constant: empty, or the expression of its number
  std::vector<int64_t> steps;
  double number = 0;
  int64_t integer = 0;
  bool reverse = false, exclusive = false, descending = false;
  ScatterMode scatter = ScatterMode::Set;
  /// Of a Constant: how its number follows from dims and scalars, in the grammar of a `let` with a
  /// dtype: "1 / sqrt(D)". "" for a literal and for the expressions in `starts`.
  std::string number_text = {};

  /// Whether a Constant has this number at other dims and scalars too.
  bool is_literal() const { return starts.empty() && number_text.empty(); }
};

struct Node {
  Op op = Op::Constant;
  std::vector<NodeId> inputs;  // all smaller than the id of this node
  DType dtype = DType::Fp32;
  Shape shape;
  Attrs attrs;
  std::string origin;        // the text of the reference: "softmax", "x + 1"
  int line = 0, column = 0;  // in the reference; 0: unknown
};

struct NamedNode {
  std::string name;
  NodeId node = 0;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<NamedNode> inputs;    // parameters in order; every one is an Input node
  std::vector<NamedNode> outputs;   // in the order returned
  std::vector<std::string> guards;  // conditions on the dims that the trace assumed: "D % 2 == 0"
  std::map<std::string, double> scalars;  // runtime scalars with other values than the task's

  const Node& operator[](NodeId id) const { return nodes[static_cast<size_t>(id)]; }
};

/// Checks structure, arity, dtypes and shapes by the rules of infer.h. An Error means a bug in a
/// pass or the builder.
Status verify(const Graph& graph);

/// One line per node: "%3: fp32[B, 1] = sum(%2) dims=[1]  # softmax, line 4".
std::string print(const Graph& graph);

/// Keeps the inputs and the nodes that the outputs need, and merges equal nodes. Keeps the order.
Graph simplify(const Graph& graph);

}  // namespace kw::graph
