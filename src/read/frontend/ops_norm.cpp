// Normalisation layers as functions, and dropout. The formulas are in graph/compose_norm.h; this
// file reads arguments. A norm is composed from means and variances, not an operator, so that
// differentiation needs no extra rule. Dropout in training is random, so a reference with it has no
// single right result. It is refused with three alternatives: eval mode, a mask as an input, or
// kernelwright.dropout. The last one draws its mask by Philox from a seed and an offset, so a
// kernel can repeat it.
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_index.h"
#include "graph/compose_norm.h"
#include "graph/compose_reduce.h"

namespace kw::frontend {
namespace {

using graph::MaybeNode;
using graph::NodeId;
using graph::Op;

Result<Value> layer_norm(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  graph::Shape normalized = KW_TRY(call.sizes("normalized_shape"));
  MaybeNode weight = KW_TRY(maybe_tensor(call, "weight"));
  MaybeNode bias = KW_TRY(maybe_tensor(call, "bias"));
  graph::Number eps = KW_TRY(call.symbolic("eps"));
  return tensor_value(KW_TRY(graph::layer_norm(call.graph(), x, normalized, weight, bias, eps)));
}

Result<Value> rms_norm(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  graph::Shape normalized = KW_TRY(call.sizes("normalized_shape"));
  MaybeNode weight = KW_TRY(maybe_tensor(call, "weight"));
  std::optional<graph::Number> eps;
  if (call.given("eps")) eps = KW_TRY(call.symbolic("eps"));
  return tensor_value(KW_TRY(graph::rms_norm(call.graph(), x, normalized, weight, eps)));
}

Result<Value> group_norm(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int64_t groups = KW_TRY(call.integer("num_groups"));
  MaybeNode weight = KW_TRY(maybe_tensor(call, "weight"));
  MaybeNode bias = KW_TRY(maybe_tensor(call, "bias"));
  graph::Number eps = KW_TRY(call.symbolic("eps"));
  return tensor_value(KW_TRY(graph::group_norm(call.graph(), x, groups, weight, bias, eps)));
}

Result<graph::ChannelNorm> channel_norm(Call& call, std::string_view training) {
  graph::ChannelNorm norm;
  norm.running_mean = KW_TRY(maybe_tensor(call, "running_mean"));
  norm.running_var = KW_TRY(maybe_tensor(call, "running_var"));
  norm.weight = KW_TRY(maybe_tensor(call, "weight"));
  norm.bias = KW_TRY(maybe_tensor(call, "bias"));
  norm.training = KW_TRY(call.boolean(training));
  norm.eps = KW_TRY(call.symbolic("eps"));
  if (!norm.training && (!norm.running_mean || !norm.running_var)) {
    return input_error("{}: Expected running_mean and running_var to be defined when {}=False",
                       call.function(), training);
  }
  return norm;
}

Result<Value> batch_norm(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  graph::ChannelNorm norm = KW_TRY(channel_norm(call, "training"));
  return tensor_value(KW_TRY(graph::batch_norm(call.graph(), x, norm)));
}

Result<Value> instance_norm(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  graph::ChannelNorm norm = KW_TRY(channel_norm(call, "use_input_stats"));
  return tensor_value(KW_TRY(graph::instance_norm(call.graph(), x, norm)));
}

Result<Value> local_response_norm(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int64_t size = KW_TRY(call.integer("size"));
  double alpha = KW_TRY(call.number("alpha"));
  double beta = KW_TRY(call.number("beta"));
  double k = KW_TRY(call.number("k"));
  return tensor_value(KW_TRY(graph::local_response_norm(call.graph(), x, size, alpha, beta, k)));
}

Result<Value> normalize(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  double p = KW_TRY(call.number("p"));
  int dim = KW_TRY(call.dim("dim", x));
  graph::Number eps = KW_TRY(call.symbolic("eps"));
  return tensor_value(KW_TRY(graph::normalize(call.graph(), x, p, dim, eps)));
}

// Every kind of dropout is the identity outside of training and for p = 0; p = 1 drops all.
// Otherwise the result is random, so the reference must state the source of its random numbers.
Result<Value> dropout_if(Call& call, std::string_view training_name) {
  Formula f(call);
  Term x = f.tensor("input");
  double p = f.number("p");
  bool training = f.boolean(training_name);
  if (f.failed()) return f.result(x);
  if (!(p >= 0 && p <= 1)) {
    return input_error("dropout probability has to be between 0 and 1, but got {}", p);
  }
  if (!training || p == 0) return f.result(x);
  if (p == 1) return f.result(x * 0.0);
  return input_error(
      "{}() in training mode draws random numbers, so no result is the right one; pass --mode eval "
      "(modules, and functions that follow self.training), write training=False, take the mask as "
      "an "
      "input (x * mask / (1 - p)), or use kernelwright.dropout(x, p, seed, offset), which is "
      "Philox",
      call.function());
}

Result<Value> dropout(Call& call) { return dropout_if(call, "training"); }

Result<Value> philox_dropout(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  double p = KW_TRY(call.number("p"));
  if (!(p >= 0 && p <= 1)) {
    return input_error("dropout probability has to be between 0 and 1, but got {}", p);
  }
  graph::Builder& g = call.graph();
  if (call.given("mask")) {
    NodeId mask = KW_TRY(call.tensor("mask"));
    return tensor_value(KW_TRY(graph::dropout_mask(g, x, mask, p)));
  }
  graph::Operand seed = KW_TRY(call.operand("seed"));
  graph::Operand offset = KW_TRY(call.operand("offset"));
  NodeId seed_node = KW_TRY(g.as_tensor(seed, tensor::DType::Int64));
  NodeId offset_node = KW_TRY(g.as_tensor(offset, tensor::DType::Int64));
  return tensor_value(KW_TRY(graph::dropout_philox(g, x, p, seed_node, offset_node)));
}

constexpr char kAffine[] = "input, normalized_shape, weight=None, bias=None, eps=1e-05";
constexpr char kDropout[] = "input, p=0.5, training=True, inplace=False";

constexpr OpRow kNormRows[] = {
    {"F.layer_norm", kAffine, layer_norm},
    {"torch.layer_norm",
     "input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True", layer_norm},
    {"F.rms_norm torch.rms_norm", "input, normalized_shape, weight=None, eps=None", rms_norm},
    {"F.group_norm", "input, num_groups, weight=None, bias=None, eps=1e-05", group_norm},
    {"torch.group_norm", "input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True",
     group_norm},
    {"F.batch_norm",
     "input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, "
     "eps=1e-05",
     batch_norm},
    {"torch.batch_norm",
     "input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=True",
     batch_norm},
    {"F.instance_norm",
     "input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, "
     "momentum=0.1, eps=1e-05",
     instance_norm},
    {"torch.instance_norm",
     "input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, "
     "cudnn_enabled=True",
     instance_norm},
    {"F.local_response_norm", "input, size, alpha=0.0001, beta=0.75, k=1.0", local_response_norm},
    {"F.normalize", "input, p=2.0, dim=1, eps=1e-12", normalize},
    {"F.dropout F.dropout1d F.dropout2d F.dropout3d", kDropout, dropout},
    {"torch.dropout torch.feature_dropout torch.alpha_dropout", "input, p, train",
     [](Call& call) { return dropout_if(call, "train"); }},
    {"F.alpha_dropout F.feature_alpha_dropout", "input, p=0.5, training=False, inplace=False",
     dropout},
    {"kernelwright.dropout", "input, p, seed=0, offset=0, *, mask=None", philox_dropout},
};

}  // namespace

std::span<const OpRow> norm_rows() { return kNormRows; }

}  // namespace kw::frontend
