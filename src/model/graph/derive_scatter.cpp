// The gradients of Scatter in its five modes, as in PyTorch's scatter, scatter_add and
// scatter_reduce.
#include "graph/compose_index.h"
#include "graph/derive_tape.h"

namespace kw::graph {

namespace {

class Scattered {
 public:
  Scattered(Tape& tape, NodeId y, NodeId g)
      : tape_(tape), b_(tape.b), f_(tape.b), node_(tape.forward[y]), y_(y), g_(g) {}

  Status run() {
    switch (node_.attrs.scatter) {
      case ScatterMode::Set:
        return set();
      case ScatterMode::Add:
        return add();
      case ScatterMode::Multiply:
        return multiply();
      default:
        return choose();
    }
  }

 private:
  NodeId base() const { return node_.inputs[0]; }
  NodeId index() const { return node_.inputs[1]; }
  NodeId source() const { return node_.inputs[2]; }
  Term gathered(const Term& x) {
    if (f_.failed()) return x;
    return f_(gather(b_, x.value.node, node_.attrs.dims[0], index()));
  }
  Term written(const Term& onto, const Term& from, ScatterMode mode) {
    if (f_.failed()) return onto;
    return f_(scatter(b_, onto.value.node, node_.attrs.dims[0], index(), from.value, mode));
  }
  Term zeros(NodeId like) { return f_(zeros_like(b_, like)); }

  Status set() {
    if (tape_.needs_gradient(base()))
      KW_TRY(tape_.give(f_, base(), written(f_(g_), zeros(source()), ScatterMode::Set)));
    if (!tape_.needs_gradient(source())) return Done{};
    return tape_.give(f_, source(), gathered(f_(g_)));
  }

  Status add() {
    KW_TRY(tape_.give(f_, base(), f_(g_)));
    if (!tape_.needs_gradient(source())) return Done{};
    return tape_.give(f_, source(), gathered(f_(g_)));
  }

  // The product without one factor. A zero is replaced when it is the only one.
  Status multiply() {
    const Term g = f_(g_), x = f_(base()), s = f_(source());
    if (tape_.needs_gradient(base())) {
      const Term one = f_(b_.constant(node_.dtype, 1));
      const Term whole = where(x == Term(0), one, x);
      const Term rest = written(whole, s, ScatterMode::Multiply);
      KW_TRY(tape_.give(f_, base(), g * rest / whole));
    }
    if (!tape_.needs_gradient(source())) return Done{};
    const Term one = f_(b_.constant(node_.dtype, 1));
    const Term empty = s == Term(0);
    const Term counts = cast(empty, node_.dtype);
    const Term many = gathered(written(zeros(base()), counts, ScatterMode::Add));
    const Term single = empty & (many == Term(1.0));
    const Term filled = where(single, one, s);
    const Term rest = gathered(g * written(x, filled, ScatterMode::Multiply));
    const Term plain = gathered(g * f_(y_)) / where(empty, one, s);
    return tape_.give(f_, source(), where(single, rest, plain));
  }

  // Shares the gradient evenly among all elements that equal the extremum.
  Status choose() {
    const Term g = f_(g_), x = f_(base()), s = f_(source()), y = f_(y_);
    const Term kept = cast(x == y, node_.dtype);
    const Term chosen = cast(s == gathered(y), node_.dtype);
    const Term share = g / written(kept, chosen, ScatterMode::Add);
    if (tape_.needs_gradient(base())) KW_TRY(tape_.give(f_, base(), share * kept));
    if (!tape_.needs_gradient(source())) return Done{};
    return tape_.give(f_, source(), gathered(share) * chosen);
  }

  Tape& tape_;
  Builder& b_;
  Formula f_;
  const Node& node_;
  NodeId y_, g_;
};

}  // namespace

Status derive_scatter(Tape& tape, NodeId y, NodeId g) { return Scattered(tape, y, g).run(); }

}  // namespace kw::graph
