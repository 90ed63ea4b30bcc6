// The modules of torch.nn with windows or borders: convolutions, pools, padding, resizing. One row
// per module and rank, because PyTorch has a class for each rank. Generated rows would be shorter,
// but a search for a module's name would not find them. The weights of a transposed convolution
// have the channels in the other order (kTurnedWeight). Rows named aten.nn.* take forward's
// arguments in the module's order, not in the function's.
#include "frontend/nn_modules.h"

namespace kw::frontend {
namespace {

constexpr const char* kConvInit =
    "in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, "
    "padding_mode='zeros', device=None, dtype=None";
constexpr const char* kConvArguments =
    "weight=weight, bias=bias, stride=stride, padding=padding, dilation=dilation, groups=groups, "
    "padding_mode=padding_mode";
constexpr const char* kTransposeInit =
    "in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, "
    "bias=True, dilation=1, padding_mode='zeros', device=None, dtype=None";
constexpr const char* kTransposeArguments =
    "weight=weight, bias=bias, stride=stride, padding=padding, output_padding=output_padding, "
    "groups=groups, dilation=dilation";
constexpr const char* kMaxPoolInit =
    "kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False";
constexpr const char* kMaxPoolArguments =
    "kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation, "
    "ceil_mode=ceil_mode, return_indices=return_indices";
constexpr const char* kAvgPoolInit =
    "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, "
    "divisor_override=None";
constexpr const char* kAvgPoolArguments =
    "kernel_size=kernel_size, stride=stride, padding=padding, ceil_mode=ceil_mode, "
    "count_include_pad=count_include_pad, divisor_override=divisor_override";
constexpr const char* kAdaptiveMaxInit = "output_size, return_indices=False";
constexpr const char* kAdaptiveMaxArguments =
    "output_size=output_size, return_indices=return_indices";
constexpr const char* kLpPoolInit = "norm_type, kernel_size, stride=None, ceil_mode=False";
constexpr const char* kLpPoolArguments =
    "norm_type=norm_type, kernel_size=kernel_size, stride=stride, ceil_mode=ceil_mode";

std::vector<StateRow> conv_state(const char* weight) {
  return {{"weight", weight}, {"bias", "out_channels", "bias"}};
}

constexpr const char* kWeight[] = {"out_channels,in_channels/groups,kernel_size^1",
                                   "out_channels,in_channels/groups,kernel_size^2",
                                   "out_channels,in_channels/groups,kernel_size^3"};
constexpr const char* kTurnedWeight[] = {"in_channels,out_channels/groups,kernel_size^1",
                                         "in_channels,out_channels/groups,kernel_size^2",
                                         "in_channels,out_channels/groups,kernel_size^3"};

std::vector<ModuleRow> sliding() {
  return {
      {"Conv1d", kConvInit, conv_state(kWeight[0]), "aten.nn.conv1d", kConvArguments},
      {"Conv2d", kConvInit, conv_state(kWeight[1]), "aten.nn.conv2d", kConvArguments},
      {"Conv3d", kConvInit, conv_state(kWeight[2]), "aten.nn.conv3d", kConvArguments},
      {"ConvTranspose1d", kTransposeInit, conv_state(kTurnedWeight[0]), "aten.nn.conv_transpose1d",
       kTransposeArguments},
      {"ConvTranspose2d", kTransposeInit, conv_state(kTurnedWeight[1]), "aten.nn.conv_transpose2d",
       kTransposeArguments},
      {"ConvTranspose3d", kTransposeInit, conv_state(kTurnedWeight[2]), "aten.nn.conv_transpose3d",
       kTransposeArguments},
      {"MaxPool1d", kMaxPoolInit, {}, "F.max_pool1d", kMaxPoolArguments},
      {"MaxPool2d", kMaxPoolInit, {}, "F.max_pool2d", kMaxPoolArguments},
      {"MaxPool3d", kMaxPoolInit, {}, "F.max_pool3d", kMaxPoolArguments},
      {"AvgPool1d",
       "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True",
       {},
       "F.avg_pool1d",
       "kernel_size=kernel_size, stride=stride, padding=padding, ceil_mode=ceil_mode, "
       "count_include_pad=count_include_pad"},
      {"AvgPool2d", kAvgPoolInit, {}, "F.avg_pool2d", kAvgPoolArguments},
      {"AvgPool3d", kAvgPoolInit, {}, "F.avg_pool3d", kAvgPoolArguments},
      {"AdaptiveAvgPool1d", "output_size", {}, "F.adaptive_avg_pool1d", "output_size=output_size"},
      {"AdaptiveAvgPool2d", "output_size", {}, "F.adaptive_avg_pool2d", "output_size=output_size"},
      {"AdaptiveAvgPool3d", "output_size", {}, "F.adaptive_avg_pool3d", "output_size=output_size"},
      {"AdaptiveMaxPool1d", kAdaptiveMaxInit, {}, "F.adaptive_max_pool1d", kAdaptiveMaxArguments},
      {"AdaptiveMaxPool2d", kAdaptiveMaxInit, {}, "F.adaptive_max_pool2d", kAdaptiveMaxArguments},
      {"AdaptiveMaxPool3d", kAdaptiveMaxInit, {}, "F.adaptive_max_pool3d", kAdaptiveMaxArguments},
      {"LPPool1d", kLpPoolInit, {}, "F.lp_pool1d", kLpPoolArguments},
      {"LPPool2d", kLpPoolInit, {}, "F.lp_pool2d", kLpPoolArguments},
      {"LPPool3d", kLpPoolInit, {}, "F.lp_pool3d", kLpPoolArguments},
      {"Unfold",
       "kernel_size, dilation=1, padding=0, stride=1",
       {},
       "F.unfold",
       "kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride"},
      {"Fold",
       "output_size, kernel_size, dilation=1, padding=0, stride=1",
       {},
       "F.fold",
       "output_size=output_size, kernel_size=kernel_size, dilation=dilation, padding=padding, "
       "stride=stride"},
  };
}

std::vector<ModuleRow> around() {
  return {
      {"ZeroPad1d", "padding", {}, "aten.nn.zero_pad1d", "padding=padding"},
      {"ZeroPad2d", "padding", {}, "aten.nn.zero_pad2d", "padding=padding"},
      {"ZeroPad3d", "padding", {}, "aten.nn.zero_pad3d", "padding=padding"},
      {"ReflectionPad1d", "padding", {}, "aten.nn.reflection_pad1d", "padding=padding"},
      {"ReflectionPad2d", "padding", {}, "aten.nn.reflection_pad2d", "padding=padding"},
      {"ReflectionPad3d", "padding", {}, "aten.nn.reflection_pad3d", "padding=padding"},
      {"ReplicationPad1d", "padding", {}, "aten.nn.replication_pad1d", "padding=padding"},
      {"ReplicationPad2d", "padding", {}, "aten.nn.replication_pad2d", "padding=padding"},
      {"ReplicationPad3d", "padding", {}, "aten.nn.replication_pad3d", "padding=padding"},
      {"CircularPad1d", "padding", {}, "aten.nn.circular_pad1d", "padding=padding"},
      {"CircularPad2d", "padding", {}, "aten.nn.circular_pad2d", "padding=padding"},
      {"CircularPad3d", "padding", {}, "aten.nn.circular_pad3d", "padding=padding"},
      {"ConstantPad1d",
       "padding, value",
       {},
       "aten.nn.constant_pad1d",
       "padding=padding, value=value"},
      {"ConstantPad2d",
       "padding, value",
       {},
       "aten.nn.constant_pad2d",
       "padding=padding, value=value"},
      {"ConstantPad3d",
       "padding, value",
       {},
       "aten.nn.constant_pad3d",
       "padding=padding, value=value"},
      {"Upsample",
       "size=None, scale_factor=None, mode='nearest', align_corners=None, "
       "recompute_scale_factor=None",
       {},
       "F.interpolate",
       "size=size, scale_factor=scale_factor, mode=mode, align_corners=align_corners, "
       "recompute_scale_factor=recompute_scale_factor"},
      {"UpsamplingNearest2d",
       "size=None, scale_factor=None",
       {},
       "F.upsample_nearest",
       "size=size, scale_factor=scale_factor"},
      {"UpsamplingBilinear2d",
       "size=None, scale_factor=None",
       {},
       "F.upsample_bilinear",
       "size=size, scale_factor=scale_factor"},
  };
}

}  // namespace

const std::vector<ModuleRow>& window_modules() {
  static const std::vector<ModuleRow> kRows = [] {
    std::vector<ModuleRow> all = sliding();
    const std::vector<ModuleRow> more = around();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kRows;
}

}  // namespace kw::frontend
