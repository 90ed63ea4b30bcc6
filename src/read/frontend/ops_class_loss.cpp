// Losses of scores against classes: cross-entropy, negative log-likelihood, margins. The target
// holds class indices, so each loss selects a score per sample. Samples with ignore_index count
// neither in the sum nor in the divisor of the mean. We gather at class 0 for those samples and
// mask the result, because the graph cannot drop samples. One-hot products would avoid the gather,
// but give NaN for infinite scores of other classes. Half types are summed and divided in the wide
// type, as in PyTorch.
#include <fmt/core.h>

#include "frontend/ops_loss.h"
#include "frontend/ops_tables.h"
#include "graph/compose_index.h"
#include "graph/compose_move.h"
#include "graph/compose_norm.h"
#include "graph/compose_reduce.h"
#include "graph/compose_scan.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;
using graph::Op;
using tensor::DType;

// The scores of N samples, [N, C, …], and the class of each, [N, …].
struct Classes {
  NodeId scores = -1, target = -1;
  std::optional<NodeId> weight;
  int64_t ignored = -100;
  int dim = 1;  // the dim of the classes

  Dim count(const graph::Builder& g) const { return g.extent(scores, dim); }
};

Status check_target(graph::Builder& g, const Classes& c) {
  if (g.dtype(c.target) != DType::Int64) {
    return input_error(fmt::format("expected scalar type Long but found {}",
                                   graph::torch_name(g.dtype(c.target))));
  }
  graph::Shape wanted = g[c.scores].shape;
  wanted.erase(wanted.begin() + c.dim);
  const graph::Shape& have = g[c.target].shape;
  if (have != wanted) {
    if (!have.empty() && !wanted.empty() && !(have[0] == wanted[0])) {
      return input_error(
          fmt::format("Expected input batch_size ({}) to match target batch_size "
                      "({}).",
                      wanted[0].value(), have[0].value()));
    }
    return input_error(fmt::format("Expected target size {}, got {}", graph::values_text(wanted),
                                   graph::values_text(have)));
  }
  for (size_t i = 0; i < have.size(); ++i) g.guard_equal(have[i], wanted[i]);
  return Done{};
}

Status check_weight(graph::Builder& g, const Classes& c) {
  if (!c.weight) return Done{};
  const Dim classes = c.count(g);
  if (g.rank(*c.weight) == 1 && g.extent(*c.weight, 0) == classes) {
    g.guard_equal(g.extent(*c.weight, 0), classes);
    return Done{};
  }
  return input_error(
      fmt::format("weight tensor should be defined either for all {} classes or no classes but "
                  "got weight tensor of shape: {}",
                  classes.value(), graph::values_text(g[*c.weight].shape)));
}

Result<Classes> read_classes(Call& call) {
  Classes c;
  c.scores = KW_TRY(call.tensor("input"));
  c.target = KW_TRY(call.tensor("target"));
  c.weight = KW_TRY(maybe_tensor(call, "weight"));
  c.ignored = KW_TRY(call.integer("ignore_index"));
  graph::Builder& g = call.graph();
  if (is_integral(g.dtype(c.scores))) return not_implemented(call, g.dtype(c.scores));
  if (g.rank(c.scores) < 1) return input_error("input tensor should be 1D or more");
  c.dim = g.rank(c.scores) == 1 ? 0 : 1;
  KW_TRY(check_weight(g, c));
  return c;
}

// The losses of the samples, and the weights that their mean divides by. Both are wide, and 0 for
// an ignored sample.
struct Picked {
  Term loss, share;
};

Result<Picked> pick(Formula& f, const Classes& c) {
  graph::Builder& g = f.graph();
  KW_TRY(check_target(g, c));
  const Term kept = f.node(c.target) != Dim(c.ignored);
  const NodeId place = KW_TRY(f.done(where(kept, f.node(c.target), 0)));
  const NodeId column = KW_TRY(graph::unsqueeze(g, place, c.dim));
  const NodeId chosen = KW_TRY(graph::gather(g, c.scores, c.dim, column));
  const NodeId flat = KW_TRY(graph::squeeze(g, chosen, {c.dim}));
  Term loss = -wide(f.node(flat));
  Term share = cast(kept, f.dtype(loss));
  if (c.weight) {
    const NodeId line = KW_TRY(g.reshape(place, {graph::count_of(g[place].shape)}));
    const NodeId weights = KW_TRY(graph::index_select(g, *c.weight, 0, line));
    const Term each = wide(f.node(g.reshape(weights, g[place].shape)));
    loss = loss * each;
    share = where(kept, each, 0.0);
  }
  return Picked{where(kept, loss, 0.0), share};
}

Term total_of(Formula& f, const Term& x) {
  const auto node = f.done(x);
  return node ? f.node(graph::sum(f.graph(), *node, {}, false)) : f.fail(node.error());
}

// One number; half types are summed and divided in the wide type.
Result<Value> reduce_picked(Formula& f, const Picked& picked, Reduction reduction, DType type) {
  if (reduction == Reduction::None) return f.result(picked.loss, type);
  const Term total = total_of(f, picked.loss);
  if (reduction == Reduction::Sum) return f.result(total, type);
  return f.result(total / total_of(f, picked.share), type);
}

Result<Value> nll_loss(Call& call) {
  const Classes c = KW_TRY(read_classes(call));
  const Reduction reduction = KW_TRY(reduction_of(call));
  Formula f(call);
  const Picked picked = KW_TRY(pick(f, c));
  return reduce_picked(f, picked, reduction, call.graph().dtype(c.scores));
}

// ATen's form: the divisor of the mean is the second result.
Result<Value> nll_loss_pair(Call& call) {
  const Classes c = KW_TRY(read_classes(call));
  const Reduction reduction = KW_TRY(reduction_of(call));
  const DType type = call.graph().dtype(c.scores);
  Formula f(call);
  const Picked picked = KW_TRY(pick(f, c));
  const Value loss = KW_TRY(reduce_picked(f, picked, reduction, type));
  const Value share = KW_TRY(f.result(total_of(f, picked.share), type));
  return make_tuple({loss, share});
}

// The weight of every class as [C, 1, …], which broadcasts to [N, C, …].
Result<Term> weight_column(Formula& f, const Classes& c) {
  graph::Builder& g = f.graph();
  graph::Shape shape(static_cast<size_t>(g.rank(c.scores) - c.dim), Dim(1));
  shape[0] = c.count(g);
  return f.node(KW_TRY(g.reshape(*c.weight, shape)));
}

// For targets that are probabilities of every class.
Result<Value> soft_cross_entropy(Formula& f, const Classes& c, double smoothing,
                                 Reduction reduction) {
  graph::Builder& g = f.graph();
  Term target = f.node(c.target);
  const Dim classes = c.count(g);
  if (smoothing > 0)
    target = target * (1 - smoothing) + smoothing / static_cast<double>(classes.value());
  Term products = f.node(c.scores) * target;
  if (c.weight) products = products * KW_TRY(weight_column(f, c));
  const NodeId all = KW_TRY(f.done(products));
  if (reduction == Reduction::None) return f.result(-f.node(graph::sum(g, all, {c.dim}, false)));
  const Term total = -f.node(graph::sum(g, all, {}, false));
  if (reduction == Reduction::Sum || g.rank(c.scores) == 1) return f.result(total);
  return f.result(total / floor_div(graph::count_of(g[all].shape), classes));
}

// (1 - s) of the class's own loss, and s spread evenly over all classes.
Result<Value> smoothed(Formula& f, const Classes& c, double smoothing, Reduction reduction) {
  graph::Builder& g = f.graph();
  const DType type = g.dtype(c.scores);
  const Picked picked = KW_TRY(pick(f, c));
  const Value sharp = KW_TRY(reduce_picked(f, picked, reduction, type));
  Term scores = f.node(c.scores);
  if (c.weight) scores = scores * KW_TRY(weight_column(f, c));
  const NodeId all = KW_TRY(f.done(scores));
  const Term spread = -f.node(graph::sum(g, all, {c.dim}, false));
  const Term kept = f.node(c.target) != Dim(c.ignored);
  Picked even{where(kept, spread, 0.0), picked.share};
  const Value blurred = KW_TRY(reduce_picked(f, even, reduction, type));
  const double each = smoothing / static_cast<double>(c.count(g).value());
  return f.result(f.node(sharp.get<Tensor>()->node) * (1 - smoothing) +
                  f.node(blurred.get<Tensor>()->node) * each);
}

Result<Value> cross_entropy(Call& call) {
  Classes c = KW_TRY(read_classes(call));
  const Reduction reduction = KW_TRY(reduction_of(call));
  const double smoothing = KW_TRY(call.number("label_smoothing"));
  if (!(smoothing >= 0 && smoothing <= 1)) {
    return input_error(
        fmt::format("label_smoothing must be between 0.0 and 1.0. Got: {}", smoothing));
  }
  graph::Builder& g = call.graph();
  const bool soft = g[c.target].shape == g[c.scores].shape;
  if (soft && is_integral(g.dtype(c.target))) {
    return input_error(
        fmt::format("Expected floating point type for target with class probabilities, got {}",
                    graph::torch_name(g.dtype(c.target))));
  }
  c.scores = KW_TRY(graph::log_softmax(g, c.scores, c.dim));
  Formula f(call);
  if (soft) return soft_cross_entropy(f, c, smoothing, reduction);
  if (smoothing > 0) return smoothed(f, c, smoothing, reduction);
  const Picked picked = KW_TRY(pick(f, c));
  return reduce_picked(f, picked, reduction, g.dtype(c.scores));
}

Result<Value> multilabel_soft_margin_loss(Call& call) {
  Formula f(call);
  Term x = f.floating("input");
  Term target = f.tensor("target");
  KW_TRY(need_same_sizes(f, target, x, "Target size must be the same as input size"));
  if (f.failed() || f.rank(x) == 0) return f.result(x);
  const auto likely = [](const Term& at) {
    const Term w = wide(at);
    return cast(minimum(w, 0.0) - log1p(exp(-abs(w))), dtype_of(at));
  };
  Term loss = -(target * likely(x) + (1 - target) * likely(-x));
  if (call.given("weight")) loss = loss * f.tensor("weight");
  const NodeId each = KW_TRY(f.done(loss));
  graph::Builder& g = f.graph();
  const int last = g.rank(each) - 1;
  return reduced(f, f.node(graph::sum(g, each, {last}, false)) / g.extent(each, last));
}

// Scores as [N, C], targets as [N] or [N, C], and whether the input had a batch dim.
struct Rows {
  NodeId scores = -1, target = -1;
  bool batched = true;
};

Result<Rows> read_rows(Call& call, int target_rank) {
  Rows rows;
  rows.scores = KW_TRY(call.tensor("input"));
  rows.target = KW_TRY(call.tensor("target"));
  graph::Builder& g = call.graph();
  rows.batched = g.rank(rows.scores) == 2;
  if (is_integral(g.dtype(rows.scores))) return not_implemented(call, g.dtype(rows.scores));
  if (g.dtype(rows.target) != DType::Int64) {
    return input_error(fmt::format("expected scalar type Long but found {}",
                                   graph::torch_name(g.dtype(rows.target))));
  }
  const int wanted = rows.batched ? target_rank : target_rank - 1;
  const bool fits = (rows.batched || g.rank(rows.scores) == 1) && g.rank(rows.target) == wanted;
  if (!fits) {
    return input_error(
        fmt::format("{}: Expected non-empty vector or matrix, and inconsistent target size: {} for "
                    "input of size {}",
                    call.function(), graph::values_text(g[rows.target].shape),
                    graph::values_text(g[rows.scores].shape)));
  }
  if (!rows.batched) {
    rows.scores = KW_TRY(graph::unsqueeze(g, rows.scores, 0));
    rows.target = KW_TRY(graph::unsqueeze(g, rows.target, 0));
  }
  if (!(g.extent(rows.scores, 0) == g.extent(rows.target, 0))) {
    return input_error(fmt::format("{}: inconsistent target size, expected {} but got {}",
                                   call.function(), g.extent(rows.scores, 0).value(),
                                   g.extent(rows.target, 0).value()));
  }
  return rows;
}

Result<Value> reduce_rows(Formula& f, const Rows& rows, const Term& loss, DType type) {
  NodeId each = KW_TRY(f.done(loss, type));
  if (!rows.batched) each = KW_TRY(f.graph().reshape(each, {}));
  return reduced(f, f.node(each));
}

// sum over i != y of max(0, margin - x[y] + x[i]) ^ p * weight[y] / C.
Result<Value> multi_margin_loss(Call& call) {
  const Rows rows = KW_TRY(read_rows(call, 1));
  Formula f(call);
  graph::Builder& g = f.graph();
  const double p = f.number("p"), margin = f.number("margin");
  if (p != 1 && p != 2) return input_error("multi_margin_loss: only p == 1 and p == 2 supported");
  const Dim classes = g.extent(rows.scores, 1);
  const NodeId column = KW_TRY(graph::unsqueeze(g, rows.target, 1));
  const Term own = wide(f.node(graph::gather(g, rows.scores, 1, column)));
  Term gap = maximum(margin - own + wide(f.node(rows.scores)), 0.0);
  if (p == 2) gap = gap * gap;
  if (call.given("weight")) {
    const NodeId weight = KW_TRY(call.tensor("weight"));
    const NodeId picked = KW_TRY(graph::index_select(g, weight, 0, rows.target));
    gap = gap * wide(f.node(graph::unsqueeze(g, picked, 1)));
  }
  const Term others = f.node(column) != f.node(g.iota({Dim(1), classes}, 1, DType::Int64));
  const NodeId each = KW_TRY(f.done(where(others, gap, 0.0)));
  const Term sum = f.node(g.reduce(Op::Sum, each, {1}, false));
  return reduce_rows(f, rows, sum / classes, g.dtype(rows.scores));
}

// The targets are the classes before the first -1. Each is compared with every class that is not a
// target.
Result<Value> multilabel_margin_loss(Call& call) {
  const Rows rows = KW_TRY(read_rows(call, 2));
  Formula f(call);
  graph::Builder& g = f.graph();
  const Dim count = g.extent(rows.scores, 0), classes = g.extent(rows.scores, 1);
  if (!(g.extent(rows.target, 1) == classes)) {
    return input_error(fmt::format("inconsistent target size: {} for input of size: {}",
                                   graph::values_text(g[rows.target].shape),
                                   graph::values_text(g[rows.scores].shape)));
  }
  const NodeId named = KW_TRY(f.done(cast(f.node(rows.target) >= 0, DType::Int64)));
  const NodeId so_far = KW_TRY(graph::cumprod(g, named, 1));
  const NodeId listed = KW_TRY(f.done(f.node(so_far) != 0));
  const NodeId place = KW_TRY(f.done(where(f.node(listed), f.node(rows.target), 0)));
  const NodeId own = KW_TRY(graph::gather(g, rows.scores, 1, place));
  const auto across = [&](NodeId x) { return f.node(g.reshape(x, {count, classes, Dim(1)})); };
  // [N, target, class]
  const Term hit = across(listed) &
                   (across(place) == f.node(g.iota({Dim(1), Dim(1), classes}, 2, DType::Int64)));
  const NodeId hits = KW_TRY(f.done(hit));
  const NodeId is_target = KW_TRY(graph::any(g, hits, {1}, true));
  const Term scores = wide(f.node(g.reshape(rows.scores, {count, Dim(1), classes})));
  const Term gap = maximum(1.0 - wide(across(own)) + scores, 0.0);
  const Term counts = across(listed) & ~f.node(is_target);
  const NodeId each = KW_TRY(f.done(where(counts, gap, 0.0)));
  const Term sum = f.node(g.reduce(Op::Sum, each, {1, 2}, false));
  return reduce_rows(f, rows, sum / classes, g.dtype(rows.scores));
}

constexpr OpRow kClassLossRows[] = {
    {"F.cross_entropy",
     "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, "
     "reduction='mean', label_smoothing=0.0",
     cross_entropy},
    {"F.nll_loss F.nll_loss2d",
     "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, "
     "reduction='mean'",
     nll_loss},
    {"aten.nll_loss_pair", "input, target, weight, reduction, ignore_index", nll_loss_pair},
    {"F.multilabel_soft_margin_loss",
     "input, target, weight=None, size_average=None, reduce=None, reduction='mean'",
     multilabel_soft_margin_loss},
    {"F.multi_margin_loss",
     "input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, "
     "reduction='mean'",
     multi_margin_loss},
    {"F.multilabel_margin_loss", "input, target, size_average=None, reduce=None, reduction='mean'",
     multilabel_margin_loss},
};

}  // namespace

std::span<const OpRow> class_loss_rows() { return kClassLossRows; }

}  // namespace kw::frontend
