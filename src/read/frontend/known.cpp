#include "frontend/known.h"

namespace kw::frontend {
namespace {

using graph::Node;
using graph::NodeId;
using graph::Op;
using tensor::DType;

constexpr int kMostLooks = 2000;  // nodes visited, on all paths together

std::optional<double> rounded(double value, DType dtype) {
  if (dtype == DType::Fp32) return static_cast<double>(static_cast<float>(value));
  const bool exact = dtype == DType::Fp64 || dtype == DType::Int64 || dtype == DType::Bool;
  return exact ? std::optional(value) : std::nullopt;
}

std::optional<double> combined(Op op, double a, double b) {
  switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::Div:
      return a / b;
    case Op::Lt:
      return a < b ? 1 : 0;
    default:
      return std::nullopt;
  }
}

// Changes `at` to the element's position before a movement; false for other ops.
bool before(const graph::Builder& graph, const Node& node, std::vector<int64_t>& at) {
  const graph::Shape& from = graph[node.inputs[0]].shape;
  std::vector<int64_t> place(from.size(), 0);
  if (node.op == Op::Reshape) {
    int64_t flat = 0;
    for (size_t i = 0; i < at.size(); ++i) flat = flat * node.shape[i].value() + at[i];
    for (size_t i = from.size(); i-- > 0; flat /= from[i].value())
      place[i] = flat % from[i].value();
  } else if (node.op == Op::Expand) {
    const size_t added = at.size() - from.size();
    for (size_t i = 0; i < from.size(); ++i) place[i] = from[i].value() == 1 ? 0 : at[added + i];
  } else if (node.op == Op::Slice) {
    for (size_t i = 0; i < from.size(); ++i)
      place[i] = node.attrs.starts[i].value() + at[i] * node.attrs.steps[i];
  } else if (node.op == Op::Permute) {
    for (size_t i = 0; i < at.size(); ++i) place[static_cast<size_t>(node.attrs.dims[i])] = at[i];
  } else {
    return false;
  }
  at = std::move(place);
  return true;
}

std::optional<double> element(const graph::Builder& graph, NodeId id, std::vector<int64_t> at,
                              int& left) {
  const Node& node = graph[id];
  if (--left < 0) return std::nullopt;
  if (node.op == Op::Constant) {
    if (!node.attrs.number_text.empty()) return std::nullopt;
    return tensor::is_float(node.dtype) ? node.attrs.number
                                        : static_cast<double>(node.attrs.integer);
  }
  if (node.op == Op::Iota) return static_cast<double>(at[static_cast<size_t>(node.attrs.dims[0])]);
  if (node.inputs.empty()) return std::nullopt;
  if (node.op == Op::Concat) {
    int64_t& along = at[static_cast<size_t>(node.attrs.dims[0])];
    for (const NodeId piece : node.inputs) {
      const int64_t extent = graph.extent(piece, node.attrs.dims[0]).value();
      if (along < extent) return element(graph, piece, at, left);
      along -= extent;
    }
    return std::nullopt;
  }
  if (before(graph, node, at)) return element(graph, node.inputs[0], std::move(at), left);
  const std::optional<double> first = element(graph, node.inputs[0], at, left);
  if (!first) return std::nullopt;
  if (node.op == Op::Cast && tensor::is_float(node.dtype)) return rounded(*first, node.dtype);
  if (node.op == Op::Where) return element(graph, node.inputs[*first != 0 ? 1 : 2], at, left);
  if (node.inputs.size() != 2) return std::nullopt;
  const std::optional<double> second = element(graph, node.inputs[1], at, left);
  const std::optional<double> value = second ? combined(node.op, *first, *second) : std::nullopt;
  return value ? rounded(*value, node.dtype) : std::nullopt;
}

}  // namespace

std::optional<double> known_element(const graph::Builder& graph, NodeId node,
                                    std::vector<int64_t> at) {
  int left = kMostLooks;
  return element(graph, node, std::move(at), left);
}

}  // namespace kw::frontend
