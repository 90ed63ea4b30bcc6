// The problem: an error at a threshold shows only if an input equals the threshold, and random
// values never do. So we follow the graph: for every node, from which inputs and constants its
// value may come unchanged. A comparison of two such nodes gives thresholds and pairs. The
// alternative, to solve for the input of any expression, would find thresholds behind arithmetic
// too; but there rounding decides, and both sides are accepted. The cost is one pass over the
// graph.
#include "inputs/graph_constants.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "ops/op_groups.h"

namespace kw::inputs {

namespace {

using graph::Node;
using graph::NodeId;
using graph::Op;
using graph::OpKind;

constexpr size_t kMostConstants = 64;  // of one kind, per input

/// Where the value of a node may come from unchanged, except for its sign.
struct ValueOrigin {
  std::set<size_t> inputs;
  std::set<double> numbers;
  std::set<int64_t> integers;

  void add(const ValueOrigin& other) {
    inputs.insert(other.inputs.begin(), other.inputs.end());
    numbers.insert(other.numbers.begin(), other.numbers.end());
    integers.insert(other.integers.begin(), other.integers.end());
  }
};

bool is_threshold(Op op) { return graph::between(op, Op::Maximum, Op::Ge); }

int mantissa_bits(tensor::DType type) {
  switch (type) {
    case tensor::DType::Fp64:
      return 53;
    case tensor::DType::Fp32:
      return 24;
    case tensor::DType::Fp16:
      return 11;
    case tensor::DType::Bf16:
      return 8;
    default:
      return 0;
  }
}

/// Whether the cast keeps every value.
bool widens(tensor::DType from, tensor::DType to) {
  if (from == to) return true;
  if (tensor::is_float(from) != tensor::is_float(to)) return false;
  if (tensor::is_float(from)) {
    // bf16 has the range of fp32, fp16 has not.
    return mantissa_bits(from) > 0 && mantissa_bits(from) < mantissa_bits(to) &&
           !(from == tensor::DType::Bf16 && to == tensor::DType::Fp16);
  }
  return tensor::dtype_size(to) > tensor::dtype_size(from);
}

/// The operands whose values this node may return.
std::span<const NodeId> kept_operands(const graph::Graph& graph, const Node& node) {
  const std::span<const NodeId> all(node.inputs);
  switch (node.op) {
    case Op::Cast:
      return widens(graph[all[0]].dtype, node.dtype) ? all : all.first(0);
    case Op::Where:
      return all.subspan(1);
    case Op::Neg:
    case Op::Abs:
    case Op::Max:
    case Op::Min:
    case Op::CumMax:
    case Op::CumMin:
    case Op::SortValues:
    case Op::TopKValues:
    case Op::Concat:
      return all;
    case Op::Maximum:
    case Op::Minimum:
    case Op::Fmax:
    case Op::Fmin:
      return all;
    case Op::Fold:
    case Op::Scatter:
      return all.first(0);
    default:
      return graph::op_info(node.op).kind == OpKind::Movement ? all.first(1) : all.first(0);
  }
}

class ConstantFinder {
 public:
  explicit ConstantFinder(const graph::Graph& graph) : graph_(graph), origins_(graph.nodes.size()) {
    found_.of_input.resize(graph.inputs.size());
  }

  GraphConstants run() {
    for (size_t i = 0; i < graph_.inputs.size(); ++i)
      origins_[static_cast<size_t>(graph_.inputs[i].node)].inputs.insert(i);
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      if (node.op == Op::Constant) note_constant(node, &origins_[id]);
      for (const NodeId operand : kept_operands(graph_, node))
        origins_[id].add(origins_[static_cast<size_t>(operand)]);
      if (is_threshold(node.op)) compare(node);
      if (ops::is_step(node.op)) step(node);
    }
    for (InputConstants& one : found_.of_input) shorten(&one);
    return std::move(found_);
  }

 private:
  const ValueOrigin& origin(NodeId id) const { return origins_[static_cast<size_t>(id)]; }

  void note_constant(const Node& node, ValueOrigin* at) {
    if (tensor::is_float(node.dtype)) {
      if (!std::isfinite(node.attrs.number)) return;
      at->numbers.insert(node.attrs.number);
      found_.numbers.push_back(node.attrs.number);
    } else if (node.dtype != tensor::DType::Bool) {
      at->integers.insert(node.attrs.integer);
      found_.integers.push_back(node.attrs.integer);
    }
  }

  void compare(const Node& node) {
    const ValueOrigin &left = origin(node.inputs[0]), &right = origin(node.inputs[1]);
    link(left, right);
    link(right, left);
    const bool searches = node.origin.find("bucketize") != std::string::npos ||
                          node.origin.find("searchsorted") != std::string::npos;
    if (!searches) return;
    for (const size_t input : left.inputs) found_.of_input[input].searched = true;
  }

  // The values of `from` are thresholds of the inputs of `to`.
  void link(const ValueOrigin& from, const ValueOrigin& to) {
    for (const size_t input : to.inputs) {
      InputConstants& one = found_.of_input[input];
      one.numbers.insert(one.numbers.end(), from.numbers.begin(), from.numbers.end());
      one.integers.insert(one.integers.end(), from.integers.begin(), from.integers.end());
      for (const size_t other : from.inputs) {
        if (other != input) one.compared_with.push_back(other);
      }
    }
  }

  void step(const Node& node) {
    for (const size_t input : origin(node.inputs[0]).inputs) {
      std::vector<double>& numbers = found_.of_input[input].numbers;
      numbers.push_back(0);
      if (node.op == Op::Sign) continue;
      for (const double value : {0.5, 1.0, 1.5, 2.0, 2.5}) numbers.push_back(value);
    }
  }

  static void shorten(InputConstants* one) {
    const auto unique = [](auto* values) {
      std::ranges::sort(*values);
      values->erase(std::unique(values->begin(), values->end()), values->end());
      if (values->size() > kMostConstants) values->resize(kMostConstants);
    };
    unique(&one->numbers);
    unique(&one->integers);
    unique(&one->compared_with);
  }

  const graph::Graph& graph_;
  std::vector<ValueOrigin> origins_;
  GraphConstants found_;
};

}  // namespace

GraphConstants constants_of(const graph::Graph& graph) { return ConstantFinder(graph).run(); }

}  // namespace kw::inputs
