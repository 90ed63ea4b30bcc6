// Convolutions, transposed convolutions, unfold and fold. The graph has no convolution operator:
// graph/compose_conv.h builds it from windows and a matrix product. So every rank, stride, dilation
// and group needs no operator of its own. This file reads the arguments, as PyTorch accepts them:
// an int, a tuple, or a word such as "same". Modules have rows of their own, because only they have
// padding_mode and output_size. Strides and dilations must be constants of the trace, because a
// kernel is written for them.
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_conv.h"
#include "graph/compose_move.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;

Status check_weight(Call& call, NodeId weight, size_t dims) {
  const graph::Shape& shape = call.graph()[weight].shape;
  if (shape.size() == dims + 2) return Done{};
  return input_error("{}(): expected a weight of {} dimensions, but got size {}", call.function(),
                     dims + 2, graph::values_text(shape));
}

// padding="same" or "valid", a number, or one number per dim.
Status read_padding(Call& call, NodeId weight, graph::Conv& how) {
  const size_t n = how.stride.size();
  const auto* word = call["padding"].get<std::string>();
  if (!word) {
    for (const int64_t pad : KW_TRY(per_dim(call, "padding", n))) how.before.emplace_back(pad);
    how.after = how.before;
    return Done{};
  }
  if (*word != "same" && *word != "valid") {
    return input_error("Invalid padding string '{}', should be one of 'valid' or 'same'", *word);
  }
  for (size_t i = 0; i < n; ++i) {
    if (*word == "valid") {
      how.before.emplace_back(0);
      how.after.emplace_back(0);
      continue;
    }
    if (how.stride[i] != 1) {
      return input_error("padding='same' is not supported for strided convolutions");
    }
    const Dim& size = call.graph().extent(weight, static_cast<int>(i) + 2);
    const Dim total = (size - Dim(1)) * Dim(how.dilation[i]);
    how.before.push_back(floor_div(total, Dim(2)));
    how.after.push_back(total - how.before.back());
  }
  return Done{};
}

Result<graph::Conv> read_conv(Call& call, NodeId weight, size_t n) {
  graph::Conv how;
  how.stride = KW_TRY(per_dim(call, "stride", n));
  how.dilation = KW_TRY(per_dim(call, "dilation", n));
  how.groups = KW_TRY(call.dim_value("groups"));
  KW_TRY(read_padding(call, weight, how));
  return how;
}

template <size_t N>
Result<Value> conv(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  NodeId weight = KW_TRY(call.tensor("weight"));
  std::optional<NodeId> bias = KW_TRY(maybe_tensor(call, "bias"));
  KW_TRY(check_weight(call, weight, N));
  const graph::Conv how = KW_TRY(read_conv(call, weight, N));
  return tensor_value(KW_TRY(graph::conv(call.graph(), x, weight, bias, how)));
}

Result<graph::PadMode> pad_mode(const std::string& name) {
  if (name == "zeros") return graph::PadMode::Constant;
  if (name == "reflect") return graph::PadMode::Reflect;
  if (name == "replicate") return graph::PadMode::Replicate;
  if (name == "circular") return graph::PadMode::Circular;
  return input_error(
      "padding_mode must be one of {{'zeros', 'reflect', 'replicate', 'circular'}}, but got "
      "padding_mode='{}'",
      name);
}

// nn.ConvNd: the padding may have values other than zero.
template <size_t N>
Result<Value> conv_module(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  NodeId weight = KW_TRY(call.tensor("weight"));
  std::optional<NodeId> bias = KW_TRY(maybe_tensor(call, "bias"));
  const std::string name = KW_TRY(call.text("padding_mode"));
  const graph::PadMode mode = KW_TRY(pad_mode(name));
  graph::Conv how = KW_TRY(read_conv(call, weight, N));
  graph::Builder& g = call.graph();
  if (mode != graph::PadMode::Constant) {
    std::vector<Dim> pads;
    for (size_t i = N; i-- > 0;) pads.insert(pads.end(), {how.before[i], how.after[i]});
    x = KW_TRY(graph::pad(g, x, pads, mode, 0));
    how.before.assign(N, Dim(0));
    how.after.assign(N, Dim(0));
  }
  return tensor_value(KW_TRY(graph::conv(g, x, weight, bias, how)));
}

Result<graph::ConvTranspose> read_transpose(Call& call, size_t n) {
  graph::ConvTranspose how;
  how.stride = KW_TRY(per_dim(call, "stride", n));
  how.dilation = KW_TRY(per_dim(call, "dilation", n));
  how.padding = KW_TRY(per_dim(call, "padding", n));
  how.output_padding = KW_TRY(per_dim(call, "output_padding", n));
  how.groups = KW_TRY(call.dim_value("groups"));
  return how;
}

template <size_t N>
Result<Value> conv_transpose(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  NodeId weight = KW_TRY(call.tensor("weight"));
  std::optional<NodeId> bias = KW_TRY(maybe_tensor(call, "bias"));
  KW_TRY(check_weight(call, weight, N));
  const graph::ConvTranspose how = KW_TRY(read_transpose(call, N));
  return tensor_value(KW_TRY(graph::conv_transpose(call.graph(), x, weight, bias, how)));
}

// nn.ConvTransposeNd: output_size determines the output_padding.
template <size_t N>
Result<Value> transpose_module(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  NodeId weight = KW_TRY(call.tensor("weight"));
  std::optional<NodeId> bias = KW_TRY(maybe_tensor(call, "bias"));
  graph::ConvTranspose how = KW_TRY(read_transpose(call, N));
  graph::Builder& g = call.graph();
  const auto rank = static_cast<size_t>(g.rank(x));
  if (call.given("output_size") && rank >= N) {
    graph::Shape wanted = KW_TRY(call.sizes("output_size"));
    if (wanted.size() == rank) wanted.erase(wanted.begin(), wanted.end() - N);
    if (wanted.size() != N) {
      return input_error(
          "ConvTranspose{0}D: for {1}D input, output_size must have {0} or {1} elements (got {2})",
          N, rank, wanted.size());
    }
    for (size_t i = 0; i < N; ++i) {
      const Dim& extent = g.extent(x, static_cast<int>(rank - N + i));
      const graph::Span span{g.extent(weight, static_cast<int>(i) + 2), 1, how.dilation[i], 0, 0};
      const Dim least =
          (extent - Dim(1)) * Dim(how.stride[i]) + graph::reach(span) - Dim(2 * how.padding[i]);
      how.output_padding[i] = wanted[i].value() - least.value();
      if (how.output_padding[i] < 0 || how.output_padding[i] >= how.stride[i]) {
        return input_error("requested an output size of {}, but valid sizes range from {} to {}",
                           wanted[i].value(), least.value(), least.value() + how.stride[i] - 1);
      }
      g.guard_equal(wanted[i], least + Dim(how.output_padding[i]));
    }
  }
  return tensor_value(KW_TRY(graph::conv_transpose(g, x, weight, bias, how)));
}

// ATen's single operator for all convolutions.
Result<Value> convolution(Call& call) {
  NodeId weight = KW_TRY(call.tensor("weight"));
  const bool transposed = KW_TRY(call.boolean("transposed"));
  switch (call.graph().rank(weight)) {
    case 3:
      return transposed ? conv_transpose<1>(call) : conv<1>(call);
    case 4:
      return transposed ? conv_transpose<2>(call) : conv<2>(call);
    case 5:
      return transposed ? conv_transpose<3>(call) : conv<3>(call);
    default:
      return input_error("convolution(): expected a weight of 3 to 5 dimensions, but got size {}",
                         graph::values_text(call.graph()[weight].shape));
  }
}

Result<graph::Spans> read_spans(Call& call) {
  const std::vector<int64_t> size = KW_TRY(per_dim(call, "kernel_size", 2));
  const std::vector<int64_t> dilation = KW_TRY(per_dim(call, "dilation", 2));
  const std::vector<int64_t> padding = KW_TRY(per_dim(call, "padding", 2));
  const std::vector<int64_t> stride = KW_TRY(per_dim(call, "stride", 2));
  graph::Spans spans;
  for (size_t i = 0; i < 2; ++i) {
    const bool positive = size[i] > 0 && dilation[i] > 0 && stride[i] > 0;
    if (!positive || padding[i] < 0) {
      return input_error(
          "{}(): kernel_size, dilation and stride should be greater than zero, padding should not "
          "be negative",
          call.function());
    }
    spans.push_back({Dim(size[i]), stride[i], dilation[i], Dim(padding[i]), Dim(padding[i])});
  }
  return spans;
}

Result<Value> columns_of(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  const graph::Spans spans = KW_TRY(read_spans(call));
  return tensor_value(KW_TRY(graph::im2col(call.graph(), x, spans)));
}

Result<Value> image_of(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  graph::Shape extents = KW_TRY(call.sizes("output_size"));
  if (extents.size() == 1) extents.resize(2, extents[0]);
  if (extents.size() != 2) return input_error("fold(): output_size must be an int or two ints");
  const graph::Spans spans = KW_TRY(read_spans(call));
  return tensor_value(KW_TRY(graph::col2im(call.graph(), x, spans, extents)));
}

constexpr char kConv[] = "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1";
constexpr char kTranspose[] =
    "input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1";
constexpr char kConvModule[] =
    "input, *, weight, bias, stride, padding, dilation, groups, padding_mode";
constexpr char kTransposeModule[] =
    "input, output_size=None, *, weight, bias, stride, padding, output_padding, groups, dilation";

constexpr OpRow kConvRows[] = {
    {"F.conv1d torch.conv1d", kConv, conv<1>},
    {"F.conv2d torch.conv2d", kConv, conv<2>},
    {"F.conv3d torch.conv3d", kConv, conv<3>},
    {"aten.nn.conv1d", kConvModule, conv_module<1>},
    {"aten.nn.conv2d", kConvModule, conv_module<2>},
    {"aten.nn.conv3d", kConvModule, conv_module<3>},
    {"F.conv_transpose1d torch.conv_transpose1d", kTranspose, conv_transpose<1>},
    {"F.conv_transpose2d torch.conv_transpose2d", kTranspose, conv_transpose<2>},
    {"F.conv_transpose3d torch.conv_transpose3d", kTranspose, conv_transpose<3>},
    {"aten.nn.conv_transpose1d", kTransposeModule, transpose_module<1>},
    {"aten.nn.conv_transpose2d", kTransposeModule, transpose_module<2>},
    {"aten.nn.conv_transpose3d", kTransposeModule, transpose_module<3>},
    {"torch.convolution",
     "input, weight, bias, stride, padding, dilation, transposed, output_padding, groups",
     convolution},
    {"F.unfold", "input, kernel_size, dilation=1, padding=0, stride=1", columns_of},
    {"F.fold", "input, output_size, kernel_size, dilation=1, padding=0, stride=1", image_of},
};

}  // namespace

std::span<const OpRow> conv_rows() { return kConvRows; }

}  // namespace kw::frontend
