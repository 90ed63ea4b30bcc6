// The problem: a task must also reject kernels with a wrong or less accurate formula. These
// imposters rewrite the reference's graph, and the oracle computes it op by op in declared
// precision. Examples: every second element of a reduction, a one-pass variance, exp without the
// maximum, TF32 or bf16 inside. fp16 accumulation is imitated by a loop here, because no op of the
// graph rounds a running total. The cost is at least one evaluation per imposter and cell; sums
// above 2e7 multiply-adds are not imitated.
#include <algorithm>
#include <cmath>

#include "core/contains.h"
#include "gate/imposter_kinds.h"
#include "gate/rewrite.h"
#include "ports/bound.h"
#include "tensor/convert.h"

namespace kw::gate {

namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;
using tensor::DType;
using tensor::HostTensor;

constexpr double kMostAccumulated = 2e7;  // limit of multiply-adds imitated on the CPU
constexpr double kTf32Split = 8193;       // 2^13 + 1: keeps 11 of fp32's 24 bits

Result<ImposterOutputs> evaluate(const ImposterCell& cell, const Graph& graph,
                                 const std::vector<HostTensor>& inputs) {
  ImposterOutputs imposed;
  imposed.outputs = KW_TRY(cell.oracle.op_by_op(graph, inputs, {}));
  return imposed;
}

/// Computes a copy of the graph with some nodes replaced, op by op; inapplicable when no node was
/// replaced.
Result<ImposterOutputs> rewritten(const ImposterCell& cell, const char* why_not,
                                  const Rewriter::Replace& replace) {
  bool any = false;
  Rewriter rewriter(cell.graph);
  const Graph graph = rewriter.run([&](Rewriter& r, NodeId id) {
    const std::optional<NodeId> other = replace(r, id);
    any = any || other;
    return other;
  });
  if (!any) return not_applicable(why_not);
  return evaluate(cell, graph, cell.set.inputs);
}

int64_t extent(const Graph& graph, NodeId id, int dim) {
  return graph[id].shape[static_cast<size_t>(dim)].value();
}

Result<ImposterOutputs> sampled_reduction(const ImposterCell& cell) {
  const char* why_not = "the reference has no reduction over two elements";
  return rewritten(cell, why_not, [](Rewriter& r, NodeId id) -> std::optional<NodeId> {
    const Node& node = r.from()[id];
    const bool sums = node.op == Op::Sum;
    if (!sums && node.op != Op::Max && node.op != Op::Min) return std::nullopt;
    if (!tensor::is_float(node.dtype)) return std::nullopt;
    const int dim = node.attrs.dims.back();
    const int64_t count = extent(r.from(), node.inputs[0], dim);
    if (count < 2) return std::nullopt;
    Node reduced = node;
    reduced.inputs = {r.every_other(r.mapped(node.inputs[0]), dim)};
    const NodeId result = r.add(std::move(reduced));
    if (!sums) return result;
    const double share = static_cast<double>(count) / static_cast<double>((count + 1) / 2);
    return r.binary(Op::Mul, result, r.constant(result, share));
  });
}

/// Returns the node before casts, expansions and reshapes.
NodeId behind(const Graph& graph, NodeId id) {
  while (graph[id].op == Op::Expand || graph[id].op == Op::Reshape || graph[id].op == Op::Cast)
    id = graph[id].inputs[0];
  return id;
}

bool is_constant(const Graph& graph, NodeId id) {
  return graph[behind(graph, id)].op == Op::Constant;
}

/// Returns the Sum of x over these dims if `id` is their mean; otherwise not set.
std::optional<NodeId> sum_behind_mean(const Graph& graph, NodeId id, NodeId x,
                                      const std::vector<int>& dims) {
  const Node* node = &graph[behind(graph, id)];
  if ((node->op == Op::Div || node->op == Op::Mul) && is_constant(graph, node->inputs[1]))
    id = behind(graph, node->inputs[0]);
  node = &graph[id];
  const bool sum = node->op == Op::Sum && node->attrs.dims == dims;
  if (!sum || behind(graph, node->inputs[0]) != behind(graph, x)) return std::nullopt;
  return id;
}

/// sum((x - mean)^2) = sum(x^2) - sum(x)^2 / n: mathematically equal.
Result<ImposterOutputs> one_pass_variance(const ImposterCell& cell) {
  const char* why_not = "no variance is computed";
  return rewritten(cell, why_not, [](Rewriter& r, NodeId id) -> std::optional<NodeId> {
    const Graph& graph = r.from();
    const Node& sum = graph[id];
    if (sum.op != Op::Sum) return std::nullopt;
    const Node& square = graph[sum.inputs[0]];
    const bool product = square.op == Op::Mul && square.inputs[0] == square.inputs[1];
    const bool power = square.op == Op::Pow && is_constant(graph, square.inputs[1]);
    if (!product && !power) return std::nullopt;
    const Node& deviation = graph[behind(graph, square.inputs[0])];
    if (deviation.op != Op::Sub) return std::nullopt;
    const auto total =
        sum_behind_mean(graph, deviation.inputs[1], deviation.inputs[0], sum.attrs.dims);
    if (!total) return std::nullopt;
    double count = 1;
    for (const int dim : sum.attrs.dims)
      count *= static_cast<double>(extent(graph, sum.inputs[0], dim));
    const NodeId x = r.mapped(deviation.inputs[0]);
    if (r[x].dtype != sum.dtype || r[r.mapped(*total)].dtype != sum.dtype) return std::nullopt;
    Node squares = sum;
    squares.inputs = {r.binary(Op::Mul, x, x)};
    const NodeId raw = r.add(std::move(squares));
    const NodeId squared = r.binary(Op::Mul, r.mapped(*total), r.mapped(*total));
    return r.binary(Op::Sub, raw, r.binary(Op::Div, squared, r.constant(raw, count)));
  });
}

/// exp(x - max x) without the max: mathematically equal until exp overflows.
Result<ImposterOutputs> no_max_subtract(const ImposterCell& cell) {
  const char* why_not = "no maximum is subtracted before exp";
  return rewritten(cell, why_not, [](Rewriter& r, NodeId id) -> std::optional<NodeId> {
    const Graph& graph = r.from();
    const Node& node = graph[id];
    if (node.op != Op::Sub) return std::nullopt;
    const Node& most = graph[behind(graph, node.inputs[1])];
    const bool own =
        most.op == Op::Max && behind(graph, most.inputs[0]) == behind(graph, node.inputs[0]);
    return own ? std::optional(r.mapped(node.inputs[0])) : std::nullopt;
  });
}

bool outputs_finer_than(const ImposterCell& cell, DType type) {
  return std::ranges::any_of(cell.set.truths, [&](const ports::Truth& truth) {
    return tensor::is_float(truth.dtype) &&
           ports::unit_roundoff(truth.dtype) < ports::unit_roundoff(type);
  });
}

bool rounds(const Node& node) {
  const graph::OpInfo& info = graph::op_info(node.op);
  return !info.exact && info.kind != graph::OpKind::Source && node.op != Op::Cast;
}

Result<ImposterOutputs> bf16_inside(const ImposterCell& cell) {
  if (!outputs_finer_than(cell, DType::Bf16))
    return not_applicable("the outputs are not finer than bf16");
  const char* why_not = "nothing is computed in fp32";
  return rewritten(cell, why_not, [](Rewriter& r, NodeId id) -> std::optional<NodeId> {
    const Node& node = r.from()[id];
    if (node.dtype != DType::Fp32 || !rounds(node)) return std::nullopt;
    return r.cast(r.cast(r.copy(id), DType::Bf16), DType::Fp32);
  });
}

/// Rounds x to 11 bits with fp32 arithmetic only.
NodeId to_tf32(Rewriter& r, NodeId x) {
  const NodeId large = r.binary(Op::Mul, x, r.constant(x, kTf32Split));
  return r.binary(Op::Sub, large, r.binary(Op::Sub, large, x));
}

Result<ImposterOutputs> tf32_inside(const ImposterCell& cell) {
  if (cell.task.precision.allow_tf32) return not_applicable("the task allows TF32");
  if (!outputs_finer_than(cell, DType::Fp16))
    return not_applicable("the outputs are not finer than TF32");
  const char* why_not = "there is no product of fp32 matrices";
  return rewritten(cell, why_not, [](Rewriter& r, NodeId id) -> std::optional<NodeId> {
    const Node& node = r.from()[id];
    if (node.op != Op::MatMul || node.dtype != DType::Fp32) return std::nullopt;
    Node product = node;
    for (NodeId& input : product.inputs) input = to_tf32(r, r.mapped(input));
    return r.add(std::move(product));
  });
}

/// Rounds to fp16. It allocates once, because the innermost loops call it.
class ToHalf {
 public:
  double operator()(double value) {
    tensor::store_floats(one_, 0, std::span(&value, 1));
    tensor::load_values(one_, 0, std::span(&value, 1));
    return value;
  }

 private:
  HostTensor one_{DType::Fp16, {1}, std::vector<std::byte>(2)};
};

std::vector<double> numbers_of(const HostTensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor::value_count(tensor)));
  tensor::load_values(tensor, 0, values);
  return values;
}

Result<HostTensor> tensor_of(const Node& node, const std::vector<double>& values) {
  HostTensor tensor = KW_TRY(tensor::make_tensor(node.dtype, graph::values_of(node.shape)));
  tensor::store_floats(tensor, 0, values);
  return tensor;
}

/// A sequential sum with an fp16 running total.
Result<HostTensor> half_sum(const Graph& graph, const Node& node, const HostTensor& x) {
  const std::vector<double> from = numbers_of(x);
  ToHalf to_half;
  const graph::Shape& shape = graph[node.inputs[0]].shape;
  std::vector<double> totals(
      static_cast<size_t>(std::max<int64_t>(graph::count_of(node.shape).value(), 0)));
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = node.shape[i].value() == 1 && shape[i].value() != 1 ? 0 : stride;
    stride *= node.shape[i].value();
  }
  for (size_t i = 0; i < from.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    int64_t to = 0;
    for (size_t d = shape.size(); d-- > 0;) {
      to += rest % shape[d].value() * strides[d];
      rest /= shape[d].value();
    }
    double& total = totals[static_cast<size_t>(to)];
    total = to_half(total + from[i]);
  }
  return tensor_of(node, totals);
}

Result<HostTensor> half_product(const Node& node, const HostTensor& left, const HostTensor& right) {
  const std::vector<double> a = numbers_of(left), b = numbers_of(right);
  ToHalf to_half;
  const size_t rank = node.shape.size();
  const int64_t rows = node.shape[rank - 2].value(), columns = node.shape[rank - 1].value();
  const int64_t inner = left.shape[rank - 1];
  const auto count = static_cast<size_t>(graph::count_of(node.shape).value());
  std::vector<double> result(count);
  for (size_t i = 0; i < count; ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t batch = at / (rows * columns), row = at / columns % rows, column = at % columns;
    double total = 0;
    for (int64_t k = 0; k < inner; ++k) {
      const double x = a[static_cast<size_t>((batch * rows + row) * inner + k)];
      const double y = b[static_cast<size_t>((batch * inner + k) * columns + column)];
      total = to_half(total + x * y);
    }
    result[i] = total;
  }
  return tensor_of(node, result);
}

/// Computed values that replace nodes, and the graph that uses them.
struct Overrides {
  std::vector<NodeId> nodes;
  std::vector<HostTensor> values;

  Graph apply(const Graph& graph) const {
    Rewriter rewriter(graph);
    return rewriter.run([this](Rewriter& r, NodeId id) -> std::optional<NodeId> {
      const bool replaced = contains(nodes, id);
      return replaced ? std::optional(r.parameter(r.from()[id])) : std::nullopt;
    });
  }
  std::vector<HostTensor> inputs(const std::vector<HostTensor>& own) const {
    std::vector<HostTensor> all = own;
    all.insert(all.end(), values.begin(), values.end());
    return all;
  }
};

bool accumulates(const Graph& graph, const Node& node) {
  if (node.dtype != DType::Fp32 && node.dtype != DType::Fp16) return false;
  if (node.op == Op::MatMul) return graph[node.inputs[0]].shape.back().value() > 1;
  return node.op == Op::Sum &&
         graph::count_of(graph[node.inputs[0]].shape).value() > graph::count_of(node.shape).value();
}

double accumulation_work(const Graph& graph, const Node& node) {
  const auto elements = static_cast<double>(graph::count_of(graph[node.inputs[0]].shape).value());
  return node.op == Op::MatMul ? elements * static_cast<double>(node.shape.back().value())
                               : elements;
}

Result<ImposterOutputs> fp16_accumulate(const ImposterCell& cell) {
  if (!outputs_finer_than(cell, DType::Bf16))
    return not_applicable("the outputs are coarser than fp16 sums");
  Overrides overrides;
  for (NodeId id = 0; id < static_cast<NodeId>(cell.graph.nodes.size()); ++id) {
    const Node& node = cell.graph[id];
    if (!accumulates(cell.graph, node)) continue;
    if (accumulation_work(cell.graph, node) > kMostAccumulated)
      return not_applicable("too large to imitate on the CPU");
    Graph upto = overrides.apply(cell.graph);
    // Node ids stay valid: each node is replaced by exactly one.
    upto.outputs.clear();
    for (const NodeId input : node.inputs) upto.outputs.push_back({"", input});
    upto.outputs.push_back({"", id});
    const std::vector<HostTensor> operands =
        KW_TRY(cell.oracle.op_by_op(upto, overrides.inputs(cell.set.inputs), {}));
    HostTensor value = KW_TRY(node.op == Op::Sum ? half_sum(cell.graph, node, operands[0])
                                                 : half_product(node, operands[0], operands[1]));
    // Counts and single elements are exact in fp16 too.
    if (value.data == operands.back().data) continue;
    overrides.nodes.push_back(id);
    overrides.values.push_back(std::move(value));
  }
  if (overrides.nodes.empty()) return not_applicable("the reference has no inexact sum");
  return evaluate(cell, overrides.apply(cell.graph), overrides.inputs(cell.set.inputs));
}

constexpr ImposterKind kFormulas[] = {
    {"sampled-reduction", sampled_reduction},
    {"one-pass-variance", one_pass_variance, true},
    {"no-max-subtract", no_max_subtract, true},
    {"tf32-inside", tf32_inside},
    {"bf16-inside", bf16_inside},
    {"fp16-accumulate", fp16_accumulate},
};

}  // namespace

std::span<const ImposterKind> formula_imposters() { return kFormulas; }

}  // namespace kw::gate
