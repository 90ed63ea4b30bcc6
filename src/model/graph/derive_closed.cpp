// The chain rule over a softmax or a normalisation gives many nodes and rounds more often than
// PyTorch does. Their derivatives have short closed forms, which PyTorch's backward kernels use. So
// this source finds such compositions by the structure of the graph and gives each its closed form.
// The name of the call is not used: code that writes a softmax by hand is found too. The cost: a
// composition written in another order is not found and gets the longer chain rule.
#include <algorithm>

#include "core/contains.h"
#include "graph/derive_tape.h"

namespace kw::graph {

namespace {

using DimList = std::vector<int>;

// The operand of a reduction, with the reduced dims.
struct Reduced {
  NodeId x = -1;
  DimList dims;
};

// x - mean(x) over these dims, or x itself when no mean is subtracted.
struct Centred {
  NodeId x = -1;
  bool by_mean = false;
};

class Matcher {
 public:
  explicit Matcher(const Tape& tape) : graph_(tape.forward) {}

  std::optional<Rule> match(NodeId id) const {
    switch (graph_[id].op) {
      case Op::Div:
        return softmax(id);
      case Op::Sub:
        return log_softmax(id);
      case Op::Add:
        return log_sum_exp(id);
      case Op::Mul:
        return normalised(id);
      case Op::Sum:
        return squares(id);
      default:
        return std::nullopt;
    }
  }

 private:
  const Node& node(NodeId id) const { return graph_[id]; }
  bool is(NodeId id, Op op) const { return graph_[id].op == op; }
  NodeId in(NodeId id, size_t i = 0) const { return graph_[id].inputs[i]; }

  std::optional<Reduced> reduced(NodeId id, Op op) const {
    if (!is(id, op)) return std::nullopt;
    return Reduced{in(id), node(id).attrs.dims};
  }

  /// The operand of an Expand over exactly these dims; its extents there are 1.
  std::optional<NodeId> spread(NodeId id, const DimList& dims) const {
    if (!is(id, Op::Expand)) return std::nullopt;
    const Shape& from = node(in(id)).shape;
    if (from.size() != node(id).shape.size()) return std::nullopt;
    for (size_t i = 0; i < from.size(); ++i) {
      const bool one = contains(dims, static_cast<int>(i));
      if (one ? !(from[i] == Dim(1)) : !(from[i] == node(id).shape[i])) return std::nullopt;
    }
    return in(id);
  }

  /// The first operand when `id` subtracts a value that is constant along these dims; otherwise
  /// `id`.
  NodeId unshifted(NodeId id, const DimList& dims) const {
    return is(id, Op::Sub) && spread(in(id, 1), dims) ? in(id, 0) : id;
  }

  double count(const Shape& shape, const DimList& dims) const {
    double product = 1;
    for (const int dim : dims)
      product *= static_cast<double>(shape[static_cast<size_t>(dim)].value());
    return product;
  }

  /// sum(x, dims) / n.
  std::optional<Reduced> mean(NodeId id) const {
    if (!is(id, Op::Div)) return std::nullopt;
    const std::optional<Reduced> sum = reduced(in(id), Op::Sum);
    const std::optional<double> n = constant_of(graph_, in(id, 1));
    if (!sum || !n || *n != count(node(sum->x).shape, sum->dims)) return std::nullopt;
    return sum;
  }

  std::optional<NodeId> square_of(NodeId id) const {
    if (is(id, Op::Mul) && in(id, 0) == in(id, 1)) return in(id);
    if (is(id, Op::Pow) && constant_of(graph_, in(id, 1)) == 2.0) return in(id);
    return std::nullopt;
  }

  Centred centred(NodeId id, const DimList& dims) const {
    if (!is(id, Op::Sub)) return {id, false};
    const std::optional<NodeId> m = spread(in(id, 1), dims);
    const std::optional<Reduced> average = m ? mean(*m) : std::nullopt;
    if (!average || average->x != in(id) || average->dims != dims) return {id, false};
    return {in(id), true};
  }

  std::optional<Rule> softmax(NodeId y) const {
    const NodeId e = in(y);
    if (!is(e, Op::Exp) || !is(in(y, 1), Op::Expand)) return std::nullopt;
    const std::optional<Reduced> sum = reduced(in(in(y, 1)), Op::Sum);
    if (!sum || sum->x != e || !spread(in(y, 1), sum->dims)) return std::nullopt;
    const NodeId x = unshifted(in(e), sum->dims);
    return [=, dims = sum->dims](Tape& tape, NodeId g) -> Status {
      Formula f(tape.b);
      const Term up = wide(f(g)), p = wide(f(tape.seen(y)));
      return tape.give(f, x, (up - reduce(Op::Sum, up * p, dims)) * p);
    };
  }

  std::optional<Rule> log_softmax(NodeId y) const {
    const NodeId d = in(y);
    if (!is(in(y, 1), Op::Expand) || !is(in(in(y, 1)), Op::Log)) return std::nullopt;
    const std::optional<Reduced> sum = reduced(in(in(in(y, 1))), Op::Sum);
    if (!sum || !is(sum->x, Op::Exp) || in(sum->x) != d || !spread(in(y, 1), sum->dims))
      return std::nullopt;
    const NodeId x = unshifted(d, sum->dims);
    return [=, dims = sum->dims](Tape& tape, NodeId g) -> Status {
      Formula f(tape.b);
      const Term up = wide(f(g)), log_p = wide(f(tape.seen(y)));
      return tape.give(f, x, up - apply(Op::Exp, log_p) * reduce(Op::Sum, up, dims));
    };
  }

  // log(sum(exp(x - shift))) + shift: the shift has no effect on the derivative.
  std::optional<Rule> log_sum_exp(NodeId y) const {
    const NodeId shift = in(y, 1);
    if (!is(in(y), Op::Log)) return std::nullopt;
    const std::optional<Reduced> sum = reduced(in(in(y)), Op::Sum);
    if (!sum || !is(sum->x, Op::Exp) || !is(in(sum->x), Op::Sub)) return std::nullopt;
    const NodeId below = in(sum->x);
    if (spread(in(below, 1), sum->dims) != shift) return std::nullopt;
    const NodeId x = in(below);
    return [=](Tape& tape, NodeId g) -> Status {
      Formula f(tape.b);
      return tape.give(f, x, wide(f(g)) * apply(Op::Exp, wide(f(x)) - wide(f(y))));
    };
  }

  // (x - mean) * rsqrt(mean of squares + eps), with or without the mean.
  std::optional<Rule> normalised(NodeId y) const {
    const NodeId c = in(y), r_wide = in(y, 1);
    if (!is(r_wide, Op::Expand) || !is(in(r_wide), Op::Rsqrt)) return std::nullopt;
    const NodeId r = in(r_wide);
    NodeId v = in(r);
    if (is(v, Op::Add) && constant_of(graph_, in(v, 1))) v = in(v);
    const std::optional<Reduced> average = mean(v);
    if (!average || square_of(average->x) != c || !spread(r_wide, average->dims))
      return std::nullopt;
    const Centred from = centred(c, average->dims);
    return [=, dims = average->dims](Tape& tape, NodeId g) -> Status {
      Formula f(tape.b);
      const Dim n = extents(tape, c, dims);
      const Term up = wide(f(g)), hat = wide(f(y));
      const Term along = reduce(Op::Sum, up * hat, dims) / n;
      const Term rest = from.by_mean ? up - reduce(Op::Sum, up, dims) / n : up;
      return tape.give(f, from.x, (rest - hat * along) * wide(f(r)));
    };
  }

  // A sum of squared distances from the mean. The derivative through the mean is zero.
  std::optional<Rule> squares(NodeId y) const {
    const DimList& dims = node(y).attrs.dims;
    const std::optional<NodeId> c = square_of(in(y));
    if (!c) return std::nullopt;
    const Centred from = centred(*c, dims);
    if (!from.by_mean) return std::nullopt;
    return [=, c = *c](Tape& tape, NodeId g) -> Status {
      Formula f(tape.b);
      return tape.give(f, from.x, wide(f(g)) * 2.0 * wide(f(c)));
    };
  }

  static Dim extents(const Tape& tape, NodeId x, const DimList& dims) {
    Dim product(1);
    for (const int dim : dims) product = product * tape.forward[x].shape[static_cast<size_t>(dim)];
    return product;
  }

  const Graph& graph_;
};

}  // namespace

std::map<NodeId, Rule> closed_forms(const Tape& tape) {
  const Matcher matcher(tape);
  std::map<NodeId, Rule> rules;
  for (size_t at = 0; at < tape.forward.nodes.size(); ++at) {
    const auto id = static_cast<NodeId>(at);
    if (!tape.needs_gradient(id)) continue;
    if (auto rule = matcher.match(id)) rules.emplace(id, std::move(*rule));
  }
  return rules;
}

}  // namespace kw::graph
