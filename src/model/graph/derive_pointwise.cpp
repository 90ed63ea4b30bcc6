// One PyTorch call is often several pointwise nodes here, such as gelu. The chain rule backwards
// would add a term per node and could multiply 0 by infinity in branches not taken. So the nodes of
// one call form a cone, and its derivative is computed forwards: one factor per operand. The
// upstream gradient is multiplied once, at the end. A single op is done backwards instead, because
// g / x rounds once and g * (1 / x) twice. The cost: a cone with several operands is processed once
// per operand, so it has at most kLargestCall nodes.
#include <algorithm>
#include <set>

#include "graph/derive_tape.h"

namespace kw::graph {

namespace {

constexpr size_t kLargestCall = 64;  // nodes of a loop share one place, so a cone needs a limit

bool same_call(const Node& a, const Node& b) {
  return a.line > 0 && a.line == b.line && a.column == b.column && a.origin == b.origin;
}

bool is_half(DType type) { return tensor::is_float(type) && tensor::dtype_size(type) < 4; }

// The pointwise nodes of one call that end in `y` and have no other users.
class Cone {
 public:
  Cone(const Tape& tape, NodeId y, const std::map<NodeId, Rule>& closed)
      : tape_(tape), closed_(closed) {
    nodes_.insert(y);
    // Users come after their inputs, so visiting each candidate once, latest first, is enough.
    std::set<NodeId, std::greater<>> open;
    for (NodeId at = y;;) {
      for (const NodeId input : tape.forward[at].inputs) {
        if (tape.needs_gradient(input)) open.insert(input);
      }
      while (!open.empty() && !belongs(*open.begin(), y)) open.erase(open.begin());
      if (open.empty() || nodes_.size() >= kLargestCall) break;
      at = *open.begin();
      open.erase(open.begin());
      nodes_.insert(at);
    }
  }

  const std::set<NodeId>& nodes() const { return nodes_; }
  bool has(NodeId id) const { return nodes_.count(id) > 0; }
  /// The active inputs of the cone, in order.
  std::set<NodeId> inputs() const {
    std::set<NodeId> all;
    for (const NodeId node : nodes_) {
      for (const NodeId input : tape_.forward[node].inputs) {
        if (!has(input) && tape_.needs_gradient(input)) all.insert(input);
      }
    }
    return all;
  }
  size_t steps() const {
    return static_cast<size_t>(
        std::ranges::count_if(nodes_, [&](NodeId id) { return tape_.forward[id].op != Op::Cast; }));
  }

 private:
  bool belongs(NodeId id, NodeId y) const {
    const Node& node = tape_.forward[id];
    if (op_info(node.op).kind != OpKind::Pointwise || !same_call(node, tape_.forward[y]))
      return false;
    if (closed_.count(id) || is_half(node.dtype)) return false;
    const bool output = std::ranges::any_of(tape_.forward.outputs,
                                            [&](const NamedNode& one) { return one.node == id; });
    const std::vector<NodeId>& users = tape_.users(id);
    return !output && std::ranges::all_of(users, [&](NodeId user) {
      return has(user) || !tape_.needs_gradient(user);
    });
  }

  const Tape& tape_;
  const std::map<NodeId, Rule>& closed_;
  std::set<NodeId> nodes_;
};

class Forwards {
 public:
  Forwards(Tape& tape, Formula& f, const Cone& cone) : tape_(tape), f_(f), cone_(cone) {}

  /// The derivative of `y` with respect to `input`.
  std::optional<Slope> run(NodeId input, NodeId y) {
    slopes_.clear();
    slopes_.emplace(input, Slope{});
    for (const NodeId node : cone_.nodes()) {
      if (const auto slope = step(node)) slopes_.emplace(node, *slope);
    }
    const auto found = slopes_.find(y);
    if (found == slopes_.end()) return std::nullopt;
    return found->second;
  }

  /// For a `y` that selects: when the input reaches only one side, that side's slope times the
  /// upstream gradient. Elements that take the other side get 0, however large the gradient is.
  std::optional<Slope> one_side(NodeId y, const Term& upstream) {
    if (tape_.forward[y].op != Op::Where) return std::nullopt;
    const std::vector<NodeId> inputs = tape_.forward[y].inputs;
    const auto a = slopes_.find(inputs[1]), b = slopes_.find(inputs[2]);
    if ((a == slopes_.end()) == (b == slopes_.end()) || is_product(y)) return std::nullopt;
    const bool first = a != slopes_.end();
    const Slope side = first ? a->second : b->second;
    const Slope through = side.tensor ? scaled(Slope{upstream, 1}, *side.tensor)
                                      : scaled(Slope{upstream, 1}, side.number);
    const DType work = opmath(tape_.forward[y].dtype);
    const Term taken = term_of(f_, through, work), none = term_of(f_, {{}, 0}, work);
    const Term condition = f_(inputs[0]);
    return Slope{first ? where(condition, taken, none) : where(condition, none, taken), 1};
  }

 private:
  bool is_product(NodeId at) const {
    const std::string_view name = called(tape_.forward[at]);
    return name == "xlogy" || name == "xlog1py";
  }

  std::optional<Slope> step(NodeId at) {
    const std::vector<NodeId> inputs = tape_.forward[at].inputs;
    if (tape_.forward[at].op == Op::Where) return choice(at, inputs);
    if (const auto slope = of_softplus(at, inputs[0])) return slope;
    std::optional<Slope> total;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto known = slopes_.find(inputs[i]);
      if (known == slopes_.end()) continue;
      const std::optional<Slope> one = local(tape_, f_, at, i, known->second);
      if (one) total = total ? sum_of(*total, *one) : *one;
    }
    return total;
  }

  // log1p(exp(x)): the factors overflow, but their quotient does not.
  std::optional<Slope> of_softplus(NodeId at, NodeId power) {
    if (tape_.forward[at].op != Op::Log1p || tape_.forward[power].op != Op::Exp) return {};
    const NodeId x = tape_.forward[power].inputs[0];
    const auto known = slopes_.find(x);
    if (!cone_.has(power) || known == slopes_.end()) return std::nullopt;
    return scaled(known->second, apply(Op::Sigmoid, wide(f_(x))));
  }

  std::optional<Slope> choice(NodeId at, const std::vector<NodeId>& inputs) {
    const auto a = slopes_.find(inputs[1]), b = slopes_.find(inputs[2]);
    if (a == slopes_.end() && b == slopes_.end()) return std::nullopt;
    const DType work = opmath(tape_.forward[at].dtype);
    const bool product = is_product(at);
    const auto side = [&](auto found) {
      if (product && found == slopes_.end()) return finite(b == slopes_.end() ? a : b, work);
      return term_of(f_, found == slopes_.end() ? Slope{{}, 0} : found->second, work);
    };
    return Slope{where(f_(inputs[0]), side(a), side(b)), 1};
  }

  // x log(y) is 0 when x is 0, but its slope there is log(y) if that is finite.
  Term finite(std::map<NodeId, Slope>::const_iterator slope, DType work) {
    const Term t = term_of(f_, slope->second, work);
    return where(apply(Op::IsNan, t) | apply(Op::IsInf, t), term_of(f_, {{}, 0}, work), t);
  }

  Tape& tape_;
  Formula& f_;
  const Cone& cone_;
  std::map<NodeId, Slope> slopes_;
};

Result<NodeId> expanded(Builder& b, Result<NodeId> x, const Shape& shape) {
  if (!x) return x;
  return b.expand(*x, shape);
}

}  // namespace

Status derive_pointwise(Tape& tape, NodeId y, NodeId g, const std::map<NodeId, Rule>& closed) {
  const Cone cone(tape, y, closed);
  Formula f(tape.b);
  const Term upstream = wide(f(g));
  const auto give = [&](NodeId to, const Slope& slope) -> Status {
    const DType type = tape.forward[to].dtype;
    const Shape shape = tape.forward[to].shape;
    return tape.give(to, expanded(tape.b, f.done(term_of(f, slope, opmath(type)), type), shape));
  };
  if (cone.steps() <= 1) {
    // For a single op: g / x rounds once; g * (1 / x) would round twice.
    std::map<NodeId, Slope> slopes = {{y, Slope{upstream, 1}}};
    for (auto at = cone.nodes().rbegin(); at != cone.nodes().rend(); ++at) {
      const std::vector<NodeId> inputs = tape.forward[*at].inputs;
      const auto have = slopes.find(*at);
      if (have == slopes.end()) continue;
      const Slope t = have->second;
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (!tape.needs_gradient(inputs[i])) continue;
        const std::optional<Slope> one = local(tape, f, *at, i, t);
        if (!one) continue;
        if (!cone.has(inputs[i])) {
          KW_TRY(give(inputs[i], *one));
          continue;
        }
        const auto [entry, fresh] = slopes.try_emplace(inputs[i], *one);
        if (!fresh) entry->second = sum_of(entry->second, *one);
      }
    }
    return Done{};
  }
  Forwards forwards(tape, f, cone);
  for (const NodeId input : cone.inputs()) {
    const std::optional<Slope> slope = forwards.run(input, y);
    if (!slope) continue;
    if (const auto chosen = forwards.one_side(y, upstream)) {
      KW_TRY(give(input, *chosen));
      continue;
    }
    const bool plain = !slope->tensor;
    KW_TRY(give(input, plain ? scaled(Slope{upstream, 1}, slope->number)
                             : scaled(Slope{upstream, 1}, *slope->tensor)));
  }
  return Done{};
}

}  // namespace kw::graph
