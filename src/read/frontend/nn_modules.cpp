// Most modules of torch.nn are a function with stored weights, so each is one row. It has the
// constructor's signature, the weights, the op row that forward calls, and that row's arguments. A
// C++ class per module would repeat the same code over 100 times. Modules whose forward is more
// than one call are written in Python instead (library_rows.h). The cost: shapes of weights need a
// small text language (StateRow::shape), parsed at each construction.
#include "frontend/nn_modules.h"

#include <algorithm>
#include <iterator>

#include "core/contains.h"
#include "frontend/library_rows.h"

namespace kw::frontend {
namespace {

constexpr const char* kBatchNorm =
    "num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, "
    "dtype=None";
constexpr const char* kInstanceNorm =
    "num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None, "
    "dtype=None";
constexpr const char* kBatchArguments =
    "running_mean=running_mean, running_var=running_var, weight=weight, bias=bias, "
    "training=batch_statistics, momentum=momentum, eps=eps";
constexpr const char* kInstanceArguments =
    "running_mean=running_mean, running_var=running_var, weight=weight, bias=bias, "
    "use_input_stats=batch_statistics, momentum=momentum, eps=eps";

std::vector<StateRow> channel_state() {
  return {{"weight", "num_features", "affine", false, false, 1},
          {"bias", "num_features", "affine", false, false, 0},
          {"running_mean", "num_features", "track_running_stats", true, false, 0},
          {"running_var", "num_features", "track_running_stats", true, true, 1}};
}

std::vector<ModuleRow> plain_modules() {
  return {
      {"Identity", "*ignored", {}, "", ""},
      {"Linear",
       "in_features, out_features, bias=True, device=None, dtype=None",
       {{"weight", "out_features,in_features"}, {"bias", "out_features", "bias"}},
       "F.linear",
       "weight=weight, bias=bias"},
      {"Bilinear",
       "in1_features, in2_features, out_features, bias=True, device=None, dtype=None",
       {{"weight", "out_features,in1_features,in2_features"}, {"bias", "out_features", "bias"}},
       "F.bilinear",
       "weight=weight, bias=bias"},
      {"Embedding",
       "num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, "
       "scale_grad_by_freq=False, sparse=False, device=None, dtype=None",
       {{"weight", "num_embeddings,embedding_dim"}},
       "F.embedding",
       "weight=weight, padding_idx=padding_idx"},
      // normalisation
      {"LayerNorm",
       "normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None",
       {{"weight", "normalized_shape", "elementwise_affine", false, false, 1},
        {"bias", "normalized_shape", "elementwise_affine&bias", false, false, 0}},
       "F.layer_norm",
       "normalized_shape=normalized_shape, weight=weight, bias=bias, eps=eps"},
      {"RMSNorm",
       "normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None",
       {{"weight", "normalized_shape", "elementwise_affine", false, false, 1}},
       "F.rms_norm",
       "normalized_shape=normalized_shape, weight=weight, eps=eps"},
      {"GroupNorm",
       "num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None",
       {{"weight", "num_channels", "affine", false, false, 1},
        {"bias", "num_channels", "affine", false, false, 0}},
       "F.group_norm",
       "num_groups=num_groups, weight=weight, bias=bias, eps=eps"},
      {"BatchNorm1d", kBatchNorm, channel_state(), "F.batch_norm", kBatchArguments},
      {"BatchNorm2d", kBatchNorm, channel_state(), "F.batch_norm", kBatchArguments},
      {"BatchNorm3d", kBatchNorm, channel_state(), "F.batch_norm", kBatchArguments},
      {"InstanceNorm1d", kInstanceNorm, channel_state(), "F.instance_norm", kInstanceArguments},
      {"InstanceNorm2d", kInstanceNorm, channel_state(), "F.instance_norm", kInstanceArguments},
      {"InstanceNorm3d", kInstanceNorm, channel_state(), "F.instance_norm", kInstanceArguments},
      {"LocalResponseNorm",
       "size, alpha=1e-4, beta=0.75, k=1.0",
       {},
       "F.local_response_norm",
       "size=size, alpha=alpha, beta=beta, k=k"},
      // activations
      {"ReLU", "inplace=False", {}, "F.relu", "inplace=inplace"},
      {"ReLU6", "inplace=False", {}, "F.relu6", "inplace=inplace"},
      {"LeakyReLU",
       "negative_slope=0.01, inplace=False",
       {},
       "F.leaky_relu",
       "negative_slope=negative_slope, inplace=inplace"},
      {"PReLU",
       "num_parameters=1, init=0.25, device=None, dtype=None",
       {{"weight", "num_parameters"}},
       "F.prelu",
       "weight=weight"},
      {"RReLU",
       "lower=0.125, upper=0.3333333333333333, inplace=False",
       {},
       "F.rrelu",
       "lower=lower, upper=upper, training=training, inplace=inplace"},
      {"ELU", "alpha=1.0, inplace=False", {}, "F.elu", "alpha=alpha, inplace=inplace"},
      {"CELU", "alpha=1.0, inplace=False", {}, "F.celu", "alpha=alpha, inplace=inplace"},
      {"SELU", "inplace=False", {}, "F.selu", "inplace=inplace"},
      {"GELU", "approximate='none'", {}, "F.gelu", "approximate=approximate"},
      {"SiLU", "inplace=False", {}, "F.silu", "inplace=inplace"},
      {"Mish", "inplace=False", {}, "F.mish", "inplace=inplace"},
      {"Hardswish", "inplace=False", {}, "F.hardswish", "inplace=inplace"},
      {"Hardsigmoid", "inplace=False", {}, "F.hardsigmoid", "inplace=inplace"},
      {"Hardtanh",
       "min_val=-1.0, max_val=1.0, inplace=False",
       {},
       "F.hardtanh",
       "min_val=min_val, max_val=max_val, inplace=inplace"},
      {"Hardshrink", "lambd=0.5", {}, "F.hardshrink", "lambd=lambd"},
      {"Softshrink", "lambd=0.5", {}, "F.softshrink", "lambd=lambd"},
      {"Tanhshrink", "", {}, "F.tanhshrink", ""},
      {"Threshold",
       "threshold, value, inplace=False",
       {},
       "F.threshold",
       "threshold=threshold, value=value, inplace=inplace"},
      {"Softplus", "beta=1.0, threshold=20.0", {}, "F.softplus", "beta=beta, threshold=threshold"},
      {"Softsign", "", {}, "F.softsign", ""},
      {"LogSigmoid", "", {}, "F.logsigmoid", ""},
      {"Sigmoid", "", {}, "torch.sigmoid", ""},
      {"Tanh", "", {}, "torch.tanh", ""},
      {"GLU", "dim=-1", {}, "F.glu", "dim=dim"},
      {"Softmax", "dim=None", {}, "F.softmax", "dim=dim"},
      {"Softmin", "dim=None", {}, "F.softmin", "dim=dim"},
      {"LogSoftmax", "dim=None", {}, "F.log_softmax", "dim=dim"},
      {"Softmax2d", "", {}, "F.softmax", "dim=channels"},
      // dropout
      {"Dropout", "p=0.5, inplace=False", {}, "F.dropout", "p=p, training=training"},
      {"Dropout1d", "p=0.5, inplace=False", {}, "F.dropout1d", "p=p, training=training"},
      {"Dropout2d", "p=0.5, inplace=False", {}, "F.dropout2d", "p=p, training=training"},
      {"Dropout3d", "p=0.5, inplace=False", {}, "F.dropout3d", "p=p, training=training"},
      {"AlphaDropout", "p=0.5, inplace=False", {}, "F.alpha_dropout", "p=p, training=training"},
      // movement
      {"Flatten",
       "start_dim=1, end_dim=-1",
       {},
       "torch.flatten",
       "start_dim=start_dim, end_dim=end_dim"},
      {"Unflatten",
       "dim, unflattened_size",
       {},
       "torch.unflatten",
       "dim=dim, sizes=unflattened_size"},
      {"PixelShuffle", "upscale_factor", {}, "F.pixel_shuffle", "upscale_factor=upscale_factor"},
      {"PixelUnshuffle",
       "downscale_factor",
       {},
       "F.pixel_unshuffle",
       "downscale_factor=downscale_factor"},
      {"ChannelShuffle", "groups", {}, "F.channel_shuffle", "groups=groups"},
      {"CosineSimilarity", "dim=1, eps=1e-8", {}, "F.cosine_similarity", "dim=dim, eps=eps"},
      {"PairwiseDistance",
       "p=2.0, eps=1e-6, keepdim=False",
       {},
       "F.pairwise_distance",
       "p=p, eps=eps, keepdim=keepdim"},
  };
}

const std::vector<ModuleRow>& rows() {
  static const std::vector<ModuleRow> kRows = [] {
    std::vector<ModuleRow> all = plain_modules();
    for (const auto* table : {&window_modules(), &loss_modules()})
      all.insert(all.end(), table->begin(), table->end());
    return all;
  }();
  return kRows;
}

constexpr std::string_view kContainers[] = {"Sequential", "ModuleList", "ModuleDict",
                                            "ParameterList", "ParameterDict"};
}  // namespace

const ModuleRow* find_module(std::string_view name) {
  const auto found = std::find_if(rows().begin(), rows().end(),
                                  [&](const ModuleRow& row) { return row.name == name; });
  return found == rows().end() ? nullptr : &*found;
}

const std::vector<std::string>& module_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names(std::begin(kContainers), std::end(kContainers));
    for (const LibraryRow& one : library_rows()) {
      if (one.names.starts_with("torch.nn.") && one.names.rfind('.') == 8)
        names.push_back(one.names.substr(9));
    }
    for (const ModuleRow& row : rows()) names.emplace_back(row.name);
    return names;
  }();
  return kNames;
}

bool is_module_container(std::string_view name) { return contains(kContainers, name); }

}  // namespace kw::frontend
