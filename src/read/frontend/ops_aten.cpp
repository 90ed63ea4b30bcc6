// The overloads of Core ATen, by their names in exported graphs. Most are an existing row under
// another name, found by removing the overload and trying "torch.", "F." and "Tensor.". So this
// file lists only the exceptions: aliases with another name or argument order, and operators with
// their own results. The alternative, a full table of overloads, would repeat each row. Native
// norms also return their statistics. Other results for PyTorch's backward are None here, or a copy
// of the output.
#include <fmt/core.h>

#include <list>
#include <map>

#include "core/text.h"
#include "frontend/cell.h"
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "frontend/subscript.h"
#include "graph/compose_index.h"
#include "graph/compose_move.h"
#include "graph/compose_norm.h"
#include "graph/compose_reduce.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;
using graph::Op;
using graph::Operand;
using tensor::DType;

// Mean and reciprocal deviation over dims, which native norms return after their result.
Result<std::vector<NodeId>> mean_and_rstd(Call& call, NodeId x, const std::vector<int>& dims,
                                          double eps, bool keepdim) {
  Formula f(call);
  Term wide_x = wide(f.node(x));
  if (f.failed()) return f.result(wide_x).error();
  graph::Moments moments =
      KW_TRY(graph::var_mean(call.graph(), wide_x.value.node, dims, 0, keepdim));
  Term rstd = rsqrt(f.node(moments.spread) + eps);
  KW_TRY(f.result(rstd));
  return std::vector<NodeId>{moments.mean, rstd.value.node};
}

Result<Value> native_layer_norm(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  graph::Shape shape = KW_TRY(call.sizes("normalized_shape"));
  graph::MaybeNode weight = KW_TRY(maybe_tensor(call, "weight"));
  graph::MaybeNode bias = KW_TRY(maybe_tensor(call, "bias"));
  double eps = KW_TRY(call.number("eps"));
  graph::Builder& g = call.graph();
  NodeId out = KW_TRY(graph::layer_norm(g, x, shape, weight, bias, eps));
  std::vector<int> dims;
  for (size_t i = 0; i < shape.size(); ++i) dims.push_back(g.rank(x) - 1 - static_cast<int>(i));
  std::vector<NodeId> stats = KW_TRY(mean_and_rstd(call, x, dims, eps, true));
  return tensor_tuple({out, stats[0], stats[1]});
}

Result<Value> fused_rms_norm(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  if (f.failed()) return f.result(x);
  graph::Shape shape = KW_TRY(call.sizes("normalized_shape"));
  graph::MaybeNode weight = KW_TRY(maybe_tensor(call, "weight"));
  std::optional<double> eps;
  if (call.given("eps")) eps = KW_TRY(call.number("eps"));
  graph::Builder& g = call.graph();
  NodeId out = KW_TRY(graph::rms_norm(g, x.value.node, shape, weight,
                                      eps ? std::optional<graph::Number>(*eps) : std::nullopt));
  std::vector<int> dims;
  for (size_t i = 0; i < shape.size(); ++i) dims.push_back(f.rank(x) - 1 - static_cast<int>(i));
  Term w = wide(x);
  Term squares = w * w;
  if (f.failed()) return f.result(squares);
  Term mean = f.node(graph::mean(g, squares.value.node, dims, true));
  const double least = f.dtype(w) == DType::Fp64 ? 0x1p-52 : 0x1p-23;
  return f.results({f.node(out), rsqrt(mean + eps.value_or(least))});
}

Result<Value> native_group_norm(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  graph::MaybeNode weight = KW_TRY(maybe_tensor(call, "weight"));
  graph::MaybeNode bias = KW_TRY(maybe_tensor(call, "bias"));
  int64_t groups = KW_TRY(call.integer("group"));
  double eps = KW_TRY(call.number("eps"));
  graph::Builder& g = call.graph();
  NodeId out = KW_TRY(graph::group_norm(g, x, groups, weight, bias, eps));
  NodeId grouped = KW_TRY(g.reshape(x, {g.extent(x, 0), Dim(groups), Dim(-1)}));
  std::vector<NodeId> stats = KW_TRY(mean_and_rstd(call, grouped, {2}, eps, false));
  return tensor_tuple({out, stats[0], stats[1]});
}

// In training the results include the batch's statistics. The functional form also returns the
// updated running values.
Result<Value> native_batch_norm(Call& call, bool training, bool functional) {
  NodeId x = KW_TRY(call.tensor("input"));
  graph::ChannelNorm norm;
  norm.weight = KW_TRY(maybe_tensor(call, "weight"));
  norm.bias = KW_TRY(maybe_tensor(call, "bias"));
  norm.running_mean = KW_TRY(maybe_tensor(call, "running_mean"));
  norm.running_var = KW_TRY(maybe_tensor(call, "running_var"));
  norm.training = training;
  norm.eps = KW_TRY(call.number("eps"));
  graph::Builder& g = call.graph();
  NodeId out = KW_TRY(graph::batch_norm(g, x, norm));
  std::vector<NodeId> results{out};
  if (training) {
    std::vector<int> dims{0};
    for (int i = 2; i < g.rank(x); ++i) dims.push_back(i);
    for (NodeId stat : KW_TRY(mean_and_rstd(call, x, dims, norm.eps.value, false))) {
      results.push_back(stat);
    }
  } else {
    NodeId none = KW_TRY(filled(g, {Dim(0)}, g.dtype(x), Operand::of(0)));
    results.insert(results.end(), {none, none});
  }
  if (functional) {
    double momentum = KW_TRY(call.number("momentum"));
    graph::RunningStats after = KW_TRY(graph::batch_norm_update(g, x, norm, momentum));
    results.insert(results.end(), {after.mean, after.var});
  }
  return tensor_tuple(results);
}

Result<Value> batch_norm_legit(Call& call) {
  bool training = KW_TRY(call.boolean("training"));
  return native_batch_norm(call, training, false);
}

Result<Value> softmax_of(Call& call, bool log) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  bool widen = KW_TRY(call.boolean("half_to_float"));
  graph::MaybeType dtype;
  if (widen) dtype = DType::Fp32;
  return tensor_value(
      KW_TRY((log ? graph::log_softmax : graph::softmax)(call.graph(), x, dim, dtype)));
}

Result<Value> to_copy(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  std::optional<DType> dtype = KW_TRY(call.dtype("dtype"));
  return tensor_value(dtype ? call.graph().cast(x, *dtype) : x);
}

Result<Value> slice(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  std::optional<Dim> start = KW_TRY(call.maybe_dim("start"));
  std::optional<Dim> stop = KW_TRY(call.maybe_dim("end"));
  int64_t step = KW_TRY(call.integer("step"));
  if (step <= 0) return input_error("slice step must be positive");
  return tensor_value(KW_TRY(graph::slice_range(call.graph(), x, dim, start, stop, step)));
}

Result<std::vector<std::optional<NodeId>>> indices_of(Call& call) {
  const std::vector<Value>* items = items_of(call["indices"]);
  if (!items) return input_error("index(): argument 'indices' must be a list of tensors and None");
  std::vector<std::optional<NodeId>> indices;
  for (const Value& item : *items) {
    const auto* tensor = item.get<Tensor>();
    if (!tensor && !item.is_none()) {
      return input_error("index(): argument 'indices' must be a list of tensors and None");
    }
    indices.push_back(tensor ? std::optional<NodeId>(tensor->node) : std::nullopt);
  }
  return indices;
}

Result<Value> index(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  std::vector<std::optional<NodeId>> indices = KW_TRY(indices_of(call));
  return tensor_value(KW_TRY(graph::index(call.graph(), x, indices)));
}

// x with the values added at the indices; an index given twice adds twice. The positions in the
// flattened tensor are indexed like the tensor itself.
Result<NodeId> accumulated(Call& call, NodeId x) {
  std::vector<std::optional<NodeId>> indices = KW_TRY(indices_of(call));
  NodeId values = KW_TRY(call.tensor("values"));
  graph::Builder& g = call.graph();
  const graph::Shape shape = g[x].shape;
  const Dim count = graph::count_of(shape);
  NodeId places = KW_TRY(g.reshape(g.iota({count}, 0, DType::Int64), shape));
  places = KW_TRY(graph::index(g, places, indices));
  values = KW_TRY(g.expand(values, g[places].shape));
  const Dim written = graph::count_of(g[places].shape);
  places = KW_TRY(g.reshape(places, {written}));
  values = KW_TRY(g.reshape(values, {written}));
  NodeId flat = KW_TRY(g.reshape(x, {count}));
  flat =
      KW_TRY(graph::scatter(g, flat, 0, places, Operand::tensor(values), graph::ScatterMode::Add));
  return g.reshape(flat, shape);
}

// Like x[indices] = values on a copy.
Result<Value> index_put(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  bool accumulate = KW_TRY(call.boolean("accumulate"));
  if (accumulate) return tensor_value(KW_TRY(accumulated(call, x)));
  const std::vector<Value>* items = items_of(call["indices"]);
  if (!items) return input_error("index_put(): argument 'indices' must be a list of tensors");
  std::vector<Value> index;
  for (const Value& item : *items) {
    index.push_back(item.is_none() ? Value(std::make_shared<SliceValue>()) : item);
  }
  Tensor copy = new_tensor(x);
  KW_TRY(assign_item(call.graph(), copy, make_tuple(std::move(index)), call["values"]));
  return tensor_value(KW_TRY(read(call.graph(), copy)));
}

Result<Value> aten_embedding(Call& call) {
  NodeId weight = KW_TRY(call.tensor("weight"));
  NodeId indices = KW_TRY(call.tensor("indices"));
  return tensor_value(KW_TRY(graph::embedding(call.graph(), indices, weight)));
}

Result<Value> sym_size(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  if (call.graph().rank(x) == 0) return input_error("sym_size(): the tensor has no dims");
  return Value(call.graph().extent(x, dim));
}

Result<Value> sym_numel(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  return Value(graph::count_of(call.graph()[x].shape));
}

Result<Value> padded(Call& call, graph::PadMode mode, double value) {
  NodeId x = KW_TRY(call.tensor("input"));
  graph::Shape pads = KW_TRY(call.sizes("pad"));
  return tensor_value(KW_TRY(graph::pad(call.graph(), x, pads, mode, value)));
}

Result<Value> constant_pad(Call& call) {
  double value = KW_TRY(call.number("value"));
  return padded(call, graph::PadMode::Constant, value);
}

// Outside of training every element is kept.
Result<Value> native_dropout(Call& call) {
  Value out = KW_TRY(find_op("torch.dropout")->apply(call));
  NodeId x = KW_TRY(call.tensor("input"));
  NodeId kept =
      KW_TRY(filled(call.graph(), call.graph()[x].shape, DType::Bool, Operand::of_bool(true)));
  return make_tuple({out, tensor_value(kept)});
}

Result<Value> numpy_t(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  std::vector<int> dims;
  for (int i = call.graph().rank(x) - 1; i >= 0; --i) dims.push_back(i);
  return tensor_value(KW_TRY(call.graph().permute(x, dims)));
}

constexpr char kPad[] = "input, pad";
constexpr char kAtenBatchNorm[] =
    "input, weight, bias, running_mean, running_var, training, momentum, eps";

constexpr OpRow kOwn[] = {
    {"native_layer_norm", "input, normalized_shape, weight, bias, eps", native_layer_norm},
    {"_fused_rms_norm", "input, normalized_shape, weight, eps", fused_rms_norm},
    {"native_group_norm", "input, weight, bias, N, C, HxW, group, eps", native_group_norm},
    {"_native_batch_norm_legit native_batch_norm", kAtenBatchNorm, batch_norm_legit},
    {"_native_batch_norm_legit.no_stats",
     "input, weight, bias, training, momentum, eps, "
     "running_mean=None, running_var=None",
     batch_norm_legit},
    {"_native_batch_norm_legit_no_training",
     "input, weight, bias, running_mean, running_var, momentum, eps",
     [](Call& call) { return native_batch_norm(call, false, false); }},
    {"_native_batch_norm_legit_functional", kAtenBatchNorm,
     [](Call& call) { return native_batch_norm(call, true, true); }},
    {"_softmax", "input, dim, half_to_float=False",
     [](Call& call) { return softmax_of(call, false); }},
    {"_log_softmax", "input, dim, half_to_float=False",
     [](Call& call) { return softmax_of(call, true); }},
    {"_to_copy", "input, *, dtype=None", to_copy},
    {"slice", "input, dim=0, start=None, end=None, step=1", slice},
    {"index _unsafe_index", "input, indices", index},
    {"index_put", "input, indices, values, accumulate=False", index_put},
    {"embedding", "weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False",
     aten_embedding},
    {"sym_size", "input, dim", sym_size},
    {"sym_numel", "input", sym_numel},
    {"constant_pad_nd", "input, pad, value=0", constant_pad},
    {"reflection_pad1d reflection_pad2d reflection_pad3d", kPad,
     [](Call& call) { return padded(call, graph::PadMode::Reflect, 0); }},
    {"replication_pad1d replication_pad2d replication_pad3d", kPad,
     [](Call& call) { return padded(call, graph::PadMode::Replicate, 0); }},
    {"native_dropout", "input, p, train", native_dropout},
    {"numpy_T", "input", numpy_t},
};

struct Alias {
  const char* names;  // ATen's names, without overload
  const char* row;
  const char* signature;  // null: the signature of the row
};

// Operators with another name or another order of arguments.
constexpr Alias kAliases[] = {
    {"alias lift_fresh_copy lift_fresh clone contiguous detach_ _conj", "torch.clone", nullptr},
    {"_unsafe_view", "torch.reshape", nullptr},
    {"view", "torch.reshape", "input, shape"},
    {"expand", "torch.broadcast_to", "input, size, *, implicit=False"},
    {"repeat", "Tensor.repeat", "input, repeats"},
    {"fill", "torch.fill", nullptr},
    {"copy", "Tensor.copy_", nullptr},
    {"linalg_vector_norm", "torch.linalg.vector_norm", nullptr},
    {"linalg_matrix_norm", "torch.linalg.matrix_norm", nullptr},
    {"log_sigmoid", "F.logsigmoid", nullptr},
    {"__and__", "torch.bitwise_and", nullptr},
    {"__or__", "torch.bitwise_or", nullptr},
    {"__xor__", "torch.bitwise_xor", nullptr},
    {"__lshift__", "torch.bitwise_left_shift", nullptr},
    {"__rshift__", "torch.bitwise_right_shift", nullptr},
    {"_cdist_forward", "torch.cdist", "x1, x2, p=2.0, compute_mode=None"},
    {"empty empty_strided", "torch.empty", "size, stride=None, *, dtype=None"},
    {"convert_element_type", "Tensor.to", "input, dtype, *, what=(), other=None"},
    {"_adaptive_avg_pool2d", "F.adaptive_avg_pool2d", nullptr},
    {"_adaptive_avg_pool3d", "F.adaptive_avg_pool3d", nullptr},
    {"adaptive_max_pool2d", "F.adaptive_max_pool2d_with_indices", nullptr},
    {"adaptive_max_pool3d", "F.adaptive_max_pool3d_with_indices", nullptr},
    {"im2col", "F.unfold", nullptr},
    {"col2im", "F.fold", nullptr},
    {"_convolution", "torch.convolution",
     "input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, "
     "benchmark, deterministic, cudnn_enabled, allow_tf32"},
    {"mse_loss", "F.mse_loss", "input, target, reduction=1"},
    {"l1_loss", "F.l1_loss", "input, target, reduction=1"},
    {"soft_margin_loss", "F.soft_margin_loss", "input, target, reduction=1"},
    {"smooth_l1_loss", "F.smooth_l1_loss", "input, target, reduction=1, beta=1.0"},
    {"huber_loss", "F.huber_loss", "input, target, reduction=1, delta=1.0"},
    {"kl_div", "F.kl_div", "input, target, reduction=1, *, log_target=False"},
    {"binary_cross_entropy", "F.binary_cross_entropy", "input, target, weight=None, reduction=1"},
    {"binary_cross_entropy_with_logits", "F.binary_cross_entropy_with_logits",
     "input, target, weight=None, pos_weight=None, reduction=1"},
    {"nll_loss nll_loss_nd", "F.nll_loss",
     "input, target, weight=None, reduction=1, ignore_index=-100"},
    {"nll_loss_forward nll_loss2d_forward", "aten.nll_loss_pair", nullptr},
    {"cross_entropy_loss", "F.cross_entropy",
     "input, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0"},
    {"_scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu",
     "aten.fused_attention", nullptr},
    {"_scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention",
     "aten.fused_masked_attention", nullptr},
    {"_scaled_dot_product_attention_math", "aten.math_attention", nullptr},
    {"upsample_nearest1d.vec upsample_nearest2d.vec upsample_nearest3d.vec",
     "aten.upsample_nearest", nullptr},
    {"_upsample_nearest_exact1d.vec _upsample_nearest_exact2d.vec _upsample_nearest_exact3d.vec",
     "aten.upsample_nearest_exact", nullptr},
    {"upsample_linear1d.vec upsample_bilinear2d.vec upsample_trilinear3d.vec",
     "aten.upsample_linear", nullptr},
    {"upsample_bicubic2d.vec", "aten.upsample_bicubic", nullptr},
    {"_reshape_alias", "torch.reshape", "input, shape, stride=None"},
    {"rsub", "torch.rsub", "input, other, alpha=1"},
    {"add", "torch.add", "input, other, alpha=1"},
    {"sub", "torch.sub", "input, other, alpha=1"},
};

using Index = std::map<std::string, const OpRow*, std::less<>>;

Index build_aten_index() {
  static std::list<OpRow> rows;  // made from the aliases
  Index index;
  for (const OpRow& row : kOwn) {
    for (std::string& name : split(row.names, ' ')) index.emplace(std::move(name), &row);
  }
  for (const Alias& alias : kAliases) {
    const OpRow* target = find_op(alias.row);
    rows.push_back({alias.names, alias.signature ? alias.signature : target->signature,
                    target->apply, target->library});
    for (std::string& name : split(alias.names, ' ')) index.emplace(std::move(name), &rows.back());
  }
  return index;
}

}  // namespace

const OpRow* find_aten(std::string_view overload) {
  static const Index kIndex = build_aten_index();
  std::string name = replace_all(std::string(overload), "::", ".");
  for (std::string_view prefix : {"torch.ops.", "aten.", "prims."}) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  auto found = kIndex.find(name);
  const std::string base = name.substr(0, name.find('.'));
  if (found == kIndex.end()) found = kIndex.find(base);
  if (found != kIndex.end()) return found->second;
  // Other names of ATen are torch's. In-place and out= forms do not occur in exported graphs.
  if (base.starts_with("special_")) return find_op("torch.special." + base.substr(8));
  if (base.starts_with("linalg_")) return find_op("torch.linalg." + base.substr(7));
  for (const char* place : {"aten.", "torch.", "F.", "Tensor."}) {
    if (const OpRow* row = find_op(place + base)) return row;
  }
  return nullptr;
}

}  // namespace kw::frontend
