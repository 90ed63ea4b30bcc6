// The problem: exact fp32 functions make many pointwise kernels compute-bound. The choice:
// recognise patterns in the graph and write them as approximate device functions within the error
// bound. Patterns are matched through rounding casts: a kernel that keeps more precision than an
// intermediate tensor of the reference is closer to the truth, never further. The alternative,
// rewriting the graph, would lose the ops that the bound is derived from. The cost: each pattern is
// a function here, and tests must prove each approximation.
#include "text/approx.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "core/contains.h"
#include "text/types.h"

namespace kw::generate {
namespace {

bool is_narrow(DType type) {
  return type == DType::Fp32 || type == DType::Fp16 || type == DType::Bf16;
}

class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(graph) {}

  const Node& operator[](NodeId id) const { return graph_[id]; }

  /// The node under casts between fp32 and the half types.
  NodeId strip(NodeId id) const {
    while (graph_[id].op == Op::Cast && is_narrow(graph_[id].dtype) &&
           is_narrow(graph_[graph_[id].inputs[0]].dtype))
      id = graph_[id].inputs[0];
    return id;
  }

  /// The node under casts if it is this op in narrow floats, otherwise -1.
  NodeId find(NodeId id, Op op) const {
    id = strip(id);
    return graph_[id].op == op && is_narrow(graph_[id].dtype) ? id : -1;
  }
  NodeId input(NodeId id, size_t i) const { return strip(graph_[id].inputs[i]); }

  /// Whether it is the same number at all elements, computed from dims and constants only.
  bool is_of_dims(NodeId id) const { return graph_[unspread(id)].op == Op::Constant; }

  /// The constant's value; empty if it depends on the dims.
  std::optional<double> constant(NodeId id) const {
    const Node& node = graph_[unspread(id)];
    if (node.op != Op::Constant || !is_narrow(node.dtype) || !node.attrs.is_literal())
      return std::nullopt;
    return node.attrs.number;
  }

  /// The other operand of a commutative node if one operand is this number.
  std::optional<NodeId> beside(NodeId id, double number) const {
    for (const size_t i : {size_t{0}, size_t{1}})
      if (constant(graph_[id].inputs[i]) == number) return input(id, 1 - i);
    return std::nullopt;
  }

  /// Whether all uses of this value are plain arithmetic that ends in roundings to fp16. Values
  /// that are very large or tiny for fp32 do not matter then.
  bool ends_in_fp16(NodeId id) const {
    if (graph_[id].dtype == DType::Fp16) return true;
    for (const graph::NamedNode& output : graph_.outputs)
      if (output.node == id) return false;
    bool used = false;
    for (size_t user = static_cast<size_t>(id) + 1; user < graph_.nodes.size(); ++user) {
      const Node& node = graph_.nodes[user];
      if (!contains(node.inputs, id)) continue;
      used = true;
      if (!is_plain(node.op) || !ends_in_fp16(static_cast<NodeId>(user))) return false;
    }
    return used;
  }

 private:
  NodeId unspread(NodeId id) const {
    while (graph_[id].op == Op::Cast || graph_[id].op == Op::Expand || graph_[id].op == Op::Reshape)
      id = graph_[id].inputs[0];
    return id;
  }

  static bool is_plain(Op op) {
    return op == Op::Cast || op == Op::Mul || op == Op::Add || op == Op::Sub || op == Op::Where ||
           op == Op::Neg;
  }

  const Graph& graph_;
};

// log1p(exp(x)), alone or with PyTorch's threshold; above the threshold x itself is the nearest
// float.
std::optional<NodeId> softplus_of(const Matcher& m, NodeId id) {
  if (const NodeId log = m.find(id, Op::Log1p); log >= 0) {
    const NodeId exp = m.find(m[log].inputs[0], Op::Exp);
    if (exp >= 0) return m.input(exp, 0);
  }
  const NodeId where = m.find(id, Op::Where);
  if (where < 0) return std::nullopt;
  const Node& test = m[m[where].inputs[0]];
  if (test.op != Op::Gt) return std::nullopt;
  const std::optional<double> threshold = m.constant(test.inputs[1]);
  const std::optional<NodeId> inner = softplus_of(m, m[where].inputs[2]);
  const bool same = inner && m.strip(test.inputs[0]) == *inner && m.input(where, 1) == *inner;
  return same && threshold && *threshold >= 18 ? inner : std::nullopt;
}

// Half of 1 + erf(u) or 1 + tanh(u), as a call.
struct Rising {
  std::string call;  // "half_sigmoid(2.0f * {})"
  std::string function;
  NodeId argument = 0;
};

std::optional<Rising> rising_of(const Matcher& m, NodeId id) {
  const NodeId add = m.find(id, Op::Add);
  if (add < 0) return std::nullopt;
  const std::optional<NodeId> other = m.beside(add, 1.0);
  if (!other) return std::nullopt;
  if (const NodeId erf = m.find(*other, Op::Erf); erf >= 0)
    return Rising{"half_one_plus_erf({})", "half_one_plus_erf", m.input(erf, 0)};
  if (const NodeId tanh = m.find(*other, Op::Tanh); tanh >= 0)
    return Rising{"half_sigmoid(2.0f * {})", "half_sigmoid", m.input(tanh, 0)};
  return std::nullopt;
}

std::string place(const std::string& call, int argument) {
  return fmt::format(fmt::runtime(call), fmt::format("{{{}}}", argument));
}

std::optional<Shortcut> shorten_add(const Matcher& m, NodeId id) {
  const std::optional<Rising> rising = rising_of(m, id);
  if (!rising) return std::nullopt;
  return Shortcut{"2.0f * " + place(rising->call, 0), {rising->argument}, {rising->function}};
}

// a / 2 * (1 + erf(u)), with the factors in any order.
std::optional<Shortcut> shorten_mul(const Matcher& m, NodeId id) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const std::optional<Rising> rising = rising_of(m, m[id].inputs[i]);
    if (!rising) continue;
    const NodeId factor = m.input(id, 1 - i);
    if (m.constant(factor) == 0.5)
      return Shortcut{place(rising->call, 0), {rising->argument}, {rising->function}};
    const NodeId half = m.find(factor, Op::Mul);
    const std::optional<NodeId> whole = half < 0 ? std::nullopt : m.beside(half, 0.5);
    if (whole)
      return Shortcut{
          "{0} * " + place(rising->call, 1), {*whole, rising->argument}, {rising->function}};
  }
  return std::nullopt;
}

std::optional<Shortcut> shorten_div(const Matcher& m, NodeId id) {
  const NodeId divisor = m.input(id, 1);
  if (const std::optional<double> number = m.constant(divisor)) {
    // A product with the rounded reciprocal rounds twice, which is half of the bound for a
    // quotient.
    const float inverse = static_cast<float>(1.0 / *number);
    if (!std::isnormal(inverse) || !std::isnormal(static_cast<float>(*number))) return std::nullopt;
    const std::string factor = literal(DType::Fp32, static_cast<double>(inverse), 0);
    return Shortcut{"{0} * " + factor, {m.input(id, 0)}, {}};
  }
  const NodeId add = m.find(divisor, Op::Add);
  const std::optional<NodeId> other = add < 0 ? std::nullopt : m.beside(add, 1.0);
  const NodeId exp = other ? m.find(*other, Op::Exp) : -1;
  if (exp < 0) {
    if (m.is_of_dims(divisor)) return std::nullopt;  // once per row: the gain is too small
    return Shortcut{"fast_divide({0}, {1})", {m.input(id, 0), divisor}, {"fast_divide"}};
  }
  return Shortcut{"{0} * one_over_one_plus_exp({1})",
                  {m.input(id, 0), m.input(exp, 0)},
                  {"one_over_one_plus_exp"}};
}

std::optional<Shortcut> shorten_softplus(const Matcher& m, NodeId id) {
  const std::optional<NodeId> x = softplus_of(m, id);
  if (!x) return std::nullopt;
  return Shortcut{"fast_softplus({0})", {*x}, {"fast_softplus"}};
}

std::optional<Shortcut> shorten_tanh(const Matcher& m, NodeId id) {
  const NodeId inner = m.input(id, 0);
  if (const std::optional<NodeId> x = softplus_of(m, inner))
    return Shortcut{"tanh_softplus({0})", {*x}, {"tanh_softplus"}};
  return Shortcut{"fast_tanh({0})", {inner}, {"fast_tanh"}};
}

Shortcut call(const Matcher& m, NodeId id, const std::string& function) {
  return {function + "({0})", {m.input(id, 0)}, {function}};
}

std::optional<Shortcut> shorten_exp(const Matcher& m, NodeId id) { return call(m, id, "fast_exp"); }

std::optional<Shortcut> shorten_expm1(const Matcher& m, NodeId id) {
  if (!m.ends_in_fp16(id)) return std::nullopt;
  return call(m, id, "half_expm1");
}

std::optional<Shortcut> shorten_sigmoid(const Matcher& m, NodeId id) {
  return call(m, id, m.ends_in_fp16(id) ? "half_sigmoid" : "fast_sigmoid");
}

struct ShortcutRow {
  Op op;
  std::optional<Shortcut> (*shorten)(const Matcher& m, NodeId id);
};

constexpr ShortcutRow kShortcuts[] = {
    {Op::Add, shorten_add},        {Op::Mul, shorten_mul},        {Op::Div, shorten_div},
    {Op::Log1p, shorten_softplus}, {Op::Where, shorten_softplus}, {Op::Tanh, shorten_tanh},
    {Op::Exp, shorten_exp},        {Op::Expm1, shorten_expm1},    {Op::Sigmoid, shorten_sigmoid},
};

}  // namespace

std::optional<Shortcut> find_shortcut(const Graph& graph, NodeId node) {
  if (!is_narrow(graph[node].dtype)) return std::nullopt;
  const Matcher matcher(graph);
  for (const ShortcutRow& row : kShortcuts) {
    if (row.op != graph[node].op) continue;
    for (const NodeId input : graph[node].inputs)
      if (tensor::is_float(graph[input].dtype) && !is_narrow(graph[input].dtype))
        return std::nullopt;
    return row.shorten(matcher, node);
  }
  return std::nullopt;
}

}  // namespace kw::generate
