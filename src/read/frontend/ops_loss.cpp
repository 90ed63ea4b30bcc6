// Losses of numbers against numbers: distances and likelihoods. If PyTorch has a kernel for the
// loss, it computes wide and rounds once per element. If PyTorch composes operators, every step
// rounds. Half types show the difference, so each row follows its original. The alternative, one
// wide formula for all, would leave out roundings that PyTorch makes. The reduction is shared
// (reduced), and takes the older arguments size_average and reduce, too. A `weight` argument of the
// plain losses is refused.
#include "frontend/ops_loss.h"

#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "frontend/ops_tables.h"
#include "graph/compose_move.h"
#include "graph/compose_reduce.h"

namespace kw::frontend {

using graph::Dim;
using graph::NodeId;
using graph::Op;
using tensor::DType;

Result<Reduction> reduction_of(Call& call) {
  if (call.given("size_average") || call.given("reduce")) {
    const bool average = call.given("size_average") ? KW_TRY(call.boolean("size_average")) : true;
    const bool reduce = call.given("reduce") ? KW_TRY(call.boolean("reduce")) : true;
    return !reduce ? Reduction::None : average ? Reduction::Mean : Reduction::Sum;
  }
  if (const auto* number = call["reduction"].get<Dim>()) {
    if (number->value() >= 0 && number->value() <= 2)
      return static_cast<Reduction>(number->value());
    return input_error(fmt::format("{} is not a valid value for reduction", number->value()));
  }
  const std::string name = KW_TRY(call.text("reduction"));
  if (name == "none") return Reduction::None;
  if (name == "mean" || name == "elementwise_mean") return Reduction::Mean;
  if (name == "sum") return Reduction::Sum;
  if (name == "batchmean" && call.function() == "kl_div") return Reduction::BatchMean;
  return input_error(fmt::format("{} is not a valid value for reduction", name));
}

Result<Value> reduced(Formula& f, const Term& loss, Reduction reduction) {
  const NodeId each = KW_TRY(f.done(loss));
  graph::Builder& g = f.graph();
  if (reduction == Reduction::None) return tensor_value(each);
  if (reduction == Reduction::Mean) return tensor_value(KW_TRY(graph::mean(g, each, {}, false)));
  const NodeId total = KW_TRY(graph::sum(g, each, {}, false));
  if (reduction == Reduction::Sum || g.rank(each) == 0) return tensor_value(total);
  return f.result(f.node(total) / g.extent(each, 0));
}

Result<Value> reduced(Formula& f, const Term& loss) {
  const Reduction reduction = KW_TRY(reduction_of(f.call()));
  return reduced(f, loss, reduction);
}

Status need_same_sizes(Formula& f, const Term& a, const Term& b, const std::string& otherwise) {
  if (f.failed()) return Done{};
  graph::Builder& g = f.graph();
  const graph::Shape &one = g[a.value.node].shape, &two = g[b.value.node].shape;
  if (one != two) {
    return input_error(
        fmt::format("{}: {} and {}", otherwise, graph::values_text(one), graph::values_text(two)));
  }
  for (size_t i = 0; i < one.size(); ++i) g.guard_equal(one[i], two[i]);
  return Done{};
}

namespace {

// One kernel per loss: wide inside, rounded to the dtype that both promote to.
template <typename F>
Result<Value> elementwise_loss(Call& call, F each) {
  Formula f(call);
  Term x = f.tensor("input");
  Term target = f.tensor("target");
  const DType type = f.type_of({x, target});
  if (!f.failed() && is_integral(type)) return not_implemented(call, type);
  if (call.given("weight"))
    return input_error(
        fmt::format("{}(): weight is not supported; multiply the losses of "
                    "reduction='none' with it",
                    call.function()));
  Term loss = each(cast(x, graph::opmath(type)), cast(target, graph::opmath(type)), f);
  return reduced(f, cast(loss, type));
}

Result<Value> mse_loss(Call& call) {
  return elementwise_loss(call, [](const Term& x, const Term& y, Formula&) {
    const Term gap = x - y;
    return gap * gap;
  });
}

Result<Value> l1_loss(Call& call) {
  return elementwise_loss(call, [](const Term& x, const Term& y, Formula&) { return abs(x - y); });
}

Result<Value> smooth_l1_loss(Call& call) {
  return elementwise_loss(call, [](const Term& x, const Term& y, Formula& f) {
    const double beta = f.number("beta");
    if (beta < 0)
      return f.fail(input_error("smooth_l1_loss does not support negative values for beta."));
    const Term gap = abs(x - y);
    if (beta == 0) return gap;
    return where(gap < beta, gap * gap * 0.5 / beta, gap - 0.5 * beta);
  });
}

Result<Value> huber_loss(Call& call) {
  return elementwise_loss(call, [](const Term& x, const Term& y, Formula& f) {
    const double delta = f.number("delta");
    if (!(delta > 0))
      return f.fail(input_error("huber_loss does not support non-positive values for delta."));
    const Term gap = abs(x - y);
    return where(gap < delta, gap * gap * 0.5, (gap - 0.5 * delta) * delta);
  });
}

// t * log(t), or 0 if t is 0; PyTorch computes it in one kernel.
Term entropy_of(const Term& t) {
  const Term w = wide(t);
  return cast(where(w == 0, 0.0, w * log(w)), dtype_of(t));
}

Result<Value> kl_div(Call& call) {
  Formula f(call);
  Term x = f.floating("input");
  Term target = f.floating("target");
  const bool logarithmic = f.boolean("log_target");
  if (f.failed()) return f.result(x);
  return reduced(f, logarithmic ? exp(target) * (target - x) : entropy_of(target) - target * x);
}

Term weighted(Formula& f, const Term& loss) {
  return f.call().given("weight") ? loss * f.tensor("weight") : loss;
}

// Logarithms are at least -100, so that a certain error has a finite loss.
Result<Value> binary_cross_entropy(Call& call) {
  Formula f(call);
  Term x = f.floating("input");
  Term target = f.floating("target");
  KW_TRY(need_same_sizes(f, target, x,
                         "Using a target size that is different to the input size is deprecated. "
                         "Please ensure they have the same size"));
  Term p = wide(x), t = wide(target);
  Term loss = (t - 1) * maximum(log1p(-p), -100.0) - t * maximum(log(p), -100.0);
  return reduced(f, weighted(f, cast(loss, f.dtype(x))));
}

Term log_sigmoid(const Term& x) {
  const Term w = wide(x);
  return cast(minimum(w, 0.0) - log1p(exp(-abs(w))), dtype_of(x));
}

Result<Value> bce_with_logits(Call& call) {
  Formula f(call);
  Term x = f.floating("input");
  Term target = f.floating("target");
  KW_TRY(need_same_sizes(f, target, x, "Target size must be the same as input size"));
  Term likely = log_sigmoid(x);
  if (call.given("pos_weight")) likely = likely * ((f.tensor("pos_weight") - 1) * target + 1);
  return reduced(f, weighted(f, (1 - target) * x - likely));
}

Result<Value> poisson_nll_loss(Call& call) {
  Formula f(call);
  Term x = f.floating("input");
  Term target = f.tensor("target");
  const bool logarithmic = f.boolean("log_input"), full = f.boolean("full");
  if (f.failed()) return f.result(x);
  Term loss = logarithmic ? exp(x) - target * x : x - target * log(x + f.number("eps"));
  if (full) {
    const Term stirling = target * log(target) - target + 0.5 * log(2 * std::numbers::pi * target);
    loss = loss + where(target <= 1, 0.0, stirling);
  }
  return reduced(f, loss);
}

Result<Value> gaussian_nll_loss(Call& call) {
  Formula f(call);
  Term x = f.floating("input");
  Term target = f.tensor("target");
  Term spread = f.operand("var");
  const bool full = f.boolean("full");
  const double eps = f.number("eps");
  if (f.failed()) return f.result(x);
  graph::Builder& g = call.graph();
  if (spread.value.is_tensor() && f.rank(spread) == f.rank(x) - 1)
    spread = f.node(graph::unsqueeze(g, spread.value.node, -1));
  if (!spread.value.is_tensor())
    spread = f.node(filled(g, g[x.value.node].shape, f.dtype(x), spread.value));
  const Term bounded = maximum(spread, eps), gap = x - target;
  Term loss = 0.5 * (log(bounded) + gap * gap / bounded);
  if (full) loss = loss + 0.5 * std::log(2 * std::numbers::pi);
  return reduced(f, loss);
}

Result<Value> hinge_embedding_loss(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  Term target = f.tensor("target");
  const Term apart = maximum(f.number("margin") - x, 0.0);
  return reduced(f, where(target != 1, apart, 0.0) + where(target != -1, x, 0.0));
}

Result<Value> margin_ranking_loss(Call& call) {
  Formula f(call);
  Term first = f.tensor("input1"), second = f.tensor("input2"), target = f.tensor("target");
  return reduced(f, maximum(-target * (first - second) + f.number("margin"), 0.0));
}

Result<Value> soft_margin_loss(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  Term target = f.tensor("target");
  return reduced(f, log1p(exp(-x * target)));
}

// This loss has its own formula, not that of F.cosine_similarity.
Result<Value> cosine_embedding_loss(Call& call) {
  Formula f(call);
  Term x = f.floating("input1"), y = f.floating("input2"), target = f.tensor("target");
  const double margin = f.number("margin");
  if (f.failed()) return f.result(x);
  if (f.rank(target) > 1 || f.rank(x) != f.rank(target) + 1 || f.rank(y) != f.rank(x)) {
    return input_error(
        "cosine_embedding_loss: 0D or 1D target tensor expected, with 1D or 2D input tensors");
  }
  graph::Builder& g = f.graph();
  const auto along = [&](const Term& product) {
    const auto node = f.done(product);
    return node ? f.node(graph::sum(g, *node, {f.rank(target)}, false)) : f.fail(node.error());
  };
  constexpr double kEps = 1e-12;
  const Term size = sqrt((along(x * x) + kEps) * (along(y * y) + kEps));
  const Term cosine = along(x * y) / size;
  const Term apart = maximum(cosine - margin, 0.0);
  return reduced(f, where(target == 1, 1 - cosine, 0.0) + where(target == -1, apart, 0.0));
}

Result<Value> triplet_margin_loss(Call& call) {
  Formula f(call);
  Term anchor = f.floating("anchor"), near = f.floating("positive"), far = f.floating("negative");
  const double margin = f.number("margin");
  const double p = f.number("p");
  const double eps = f.number("eps");
  const bool swap = f.boolean("swap");
  if (f.failed()) return f.result(anchor);
  if (f.rank(anchor) != f.rank(near) || f.rank(anchor) != f.rank(far)) {
    return input_error(fmt::format(
        "The anchor, positive, and negative tensors are expected to have the same number of "
        "dimensions, but got: anchor {}D, positive {}D, and negative {}D inputs",
        f.rank(anchor), f.rank(near), f.rank(far)));
  }
  const auto distance = [&](const Term& a, const Term& b) {
    return f.node(graph::pairwise_distance(f.graph(), a.value.node, b.value.node, p, eps, false));
  };
  const Term to_near = distance(anchor, near);
  Term to_far = distance(anchor, far);
  if (swap) to_far = minimum(to_far, distance(near, far));
  return reduced(f, maximum(margin + to_near - to_far, 0.0));
}

constexpr char kPlain[] = "input, target, size_average=None, reduce=None, reduction='mean'";
constexpr char kWeighted[] =
    "input, target, size_average=None, reduce=None, reduction='mean', weight=None";

constexpr OpRow kLossRows[] = {
    {"F.mse_loss", kWeighted, mse_loss},
    {"F.l1_loss", kWeighted, l1_loss},
    {"F.smooth_l1_loss",
     "input, target, size_average=None, reduce=None, reduction='mean', beta=1.0", smooth_l1_loss},
    {"F.huber_loss", "input, target, reduction='mean', delta=1.0, weight=None", huber_loss},
    {"F.kl_div",
     "input, target, size_average=None, reduce=None, reduction='mean', log_target=False", kl_div},
    {"F.binary_cross_entropy",
     "input, target, weight=None, size_average=None, reduce=None, reduction='mean'",
     binary_cross_entropy},
    {"F.binary_cross_entropy_with_logits",
     "input, target, weight=None, size_average=None, reduce=None, reduction='mean', "
     "pos_weight=None",
     bce_with_logits},
    {"F.poisson_nll_loss",
     "input, target, log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, "
     "reduction='mean'",
     poisson_nll_loss},
    {"F.gaussian_nll_loss", "input, target, var, full=False, eps=1e-06, reduction='mean'",
     gaussian_nll_loss},
    {"F.hinge_embedding_loss",
     "input, target, margin=1.0, size_average=None, reduce=None, reduction='mean'",
     hinge_embedding_loss},
    {"F.margin_ranking_loss",
     "input1, input2, target, margin=0, size_average=None, reduce=None, reduction='mean'",
     margin_ranking_loss},
    {"F.soft_margin_loss", kPlain, soft_margin_loss},
    {"F.cosine_embedding_loss",
     "input1, input2, target, margin=0, size_average=None, reduce=None, reduction='mean'",
     cosine_embedding_loss},
    {"F.triplet_margin_loss",
     "anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, size_average=None, "
     "reduce=None, reduction='mean'",
     triplet_margin_loss},
};

}  // namespace

std::span<const OpRow> loss_rows() { return kLossRows; }

}  // namespace kw::frontend
