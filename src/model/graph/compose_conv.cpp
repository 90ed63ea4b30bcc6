// A convolution is composed of primitives, so that no interpreter, derivative or error bound needs
// a rule for it. The windows of the input become columns of a matrix, and the weight is multiplied
// with it. A transposed convolution does this in reverse: a product, then Fold adds the windows. A
// primitive Conv op would give smaller graphs, but every user of graphs would need it with strides,
// dilations and groups. The movements cost nothing in a kernel that reads through them. The cost: a
// code generator must recognise the pattern to use a direct convolution.
#include "graph/compose_conv.h"

#include <fmt/core.h>

#include "graph/compose_move.h"
#include "graph/term.h"

namespace kw::graph {

using MaybeBias = std::optional<NodeId>;

namespace {

// The parts of a convolution, after a missing batch dim was added.
struct Pieces {
  NodeId x = -1, weight = -1;
  int spatial = 0;
  bool batched = true;
  Dim groups = 1;

  Dim grouped(const Builder& b, NodeId id, int dim) const {
    return floor_div(b.extent(id, dim), groups);
  }
};

Dim product_of(const Shape& shape, size_t first) {
  return count_of(Shape(shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end()));
}

std::string times_text(const Shape& shape) {
  std::string text;
  for (const Dim& extent : shape) {
    text += fmt::format("{}{}", text.empty() ? "" : " x ", extent.value());
  }
  return "(" + text + ")";
}

Status check_types(const Builder& b, const Pieces& p, MaybeBias bias) {
  const DType type = b.dtype(p.x);
  if (!tensor::is_float(type) || is_storage_only(type))
    return input_error("\"convolution\" not implemented for '{}'", torch_name(type));
  const auto differ = [&](NodeId other, const char* what) {
    return input_error("Input type ({}) and {} type ({}) should be the same", torch_name(type),
                       what, torch_name(b.dtype(other)));
  };
  if (b.dtype(p.weight) != type) return differ(p.weight, "weight");
  if (bias && b.dtype(*bias) != type) return differ(*bias, "bias");
  return Done{};
}

// PyTorch checks the first dim of the weight in both directions of convolution. `wanted` is the
// number of input channels that the weight requires.
Status check_channels(Builder& b, const Pieces& p, bool transposed) {
  const Shape& w = b[p.weight].shape;
  const int64_t groups = p.groups.value();
  const std::string size = values_text(w);
  if (groups <= 0) return input_error("non-positive groups is not supported");
  if (w[0].value() < groups) {
    return input_error(
        "Given groups={0}, expected weight to be at least {0} at dimension 0, but got weight of "
        "size {1} instead",
        groups, size);
  }
  if (w[0].value() % groups != 0) {
    return input_error(
        "Given groups={0}, expected weight to be divisible by {0} at dimension 0, but got weight "
        "of size {1} instead",
        groups, size);
  }
  const Dim wanted = transposed ? w[0] : w[1] * p.groups;
  if (!(b.extent(p.x, 1) == wanted)) {
    return input_error(
        "Given groups={}, weight of size {}, expected input{} to have {} channels, but got {} "
        "channels instead",
        groups, size, values_text(b[p.x].shape), wanted.value(), b.extent(p.x, 1).value());
  }
  b.guard_equal(b.extent(p.x, 1), wanted);
  if (p.groups.is_constant() && groups == 1) return Done{};
  b.guard_equal(w[0], floor_div(w[0], p.groups) * p.groups);
  return Done{};
}

Status check_bias(Builder& b, NodeId weight, MaybeBias bias, const Dim& channels) {
  if (!bias) return Done{};
  if (b.rank(*bias) == 1 && b.extent(*bias, 0) == channels) {
    b.guard_equal(b.extent(*bias, 0), channels);
    return Done{};
  }
  return input_error(
      "Given weight of size {}, expected bias to be 1-dimensional with {} elements, but got bias "
      "of size {} instead",
      values_text(b[weight].shape), channels.value(), values_text(b[*bias].shape));
}

Result<Pieces> pieces_of(Builder& b, NodeId x, NodeId weight, MaybeBias bias, const Dim& groups,
                         bool transposed) {
  Pieces p{x, weight, b.rank(weight) - 2, true, groups};
  if (p.spatial < 1 || p.spatial > 3) {
    return input_error("expected a weight of 3 to 5 dimensions, but got size {}",
                       values_text(b[weight].shape));
  }
  if (b.rank(x) != p.spatial + 1 && b.rank(x) != p.spatial + 2) {
    return input_error(
        "Expected {}D (unbatched) or {}D (batched) input to conv{}{}d, but got input of size: {}",
        p.spatial + 1, p.spatial + 2, transposed ? "_transpose" : "", p.spatial,
        values_text(b[x].shape));
  }
  p.batched = b.rank(x) == p.spatial + 2;
  if (!p.batched) p.x = KW_TRY(unsqueeze(b, x, 0));
  KW_TRY(check_types(b, p, bias));
  KW_TRY(check_channels(b, p, transposed));
  const Dim channels = transposed ? b.extent(weight, 1) * groups : b.extent(weight, 0);
  KW_TRY(check_bias(b, weight, bias, channels));
  return p;
}

bool one_group(const Pieces& p) { return p.groups.same_text(Dim(1)); }

// [N, G, rows, columns], without G when there is one group.
Shape grouped_matrix(const Pieces& p, const Dim& batch, const Dim& rows, const Dim& columns) {
  if (one_group(p)) return {batch, rows, columns};
  return {batch, p.groups, rows, columns};
}

// The weight as one matrix per group, expanded over the samples.
Result<NodeId> weight_matrix(Builder& b, const Pieces& p, NodeId w, const Dim& rows,
                             const Dim& columns) {
  const Shape shape = grouped_matrix(p, Dim(1), rows, columns);
  const NodeId matrix = KW_TRY(b.reshape(w, Shape(shape.begin() + 1, shape.end())));
  return b.expand(matrix, grouped_matrix(p, b.extent(p.x, 0), rows, columns));
}

// Adds the bias, rounds, and removes a batch dim that the input did not have.
Result<NodeId> finish(Builder& b, NodeId y, const Pieces& p, MaybeBias bias, DType type) {
  if (bias) {
    Shape shape(static_cast<size_t>(p.spatial + 1), Dim(1));
    shape[0] = b.extent(*bias, 0);
    const NodeId wide_bias = b.cast(*bias, b.dtype(y));
    const NodeId column = KW_TRY(b.reshape(wide_bias, shape));
    y = KW_TRY(b.binary(Op::Add, Operand::tensor(y), Operand::tensor(column)));
  }
  y = b.cast(y, type);
  if (p.batched) return y;
  return b.reshape(y, Shape(b[y].shape.begin() + 1, b[y].shape.end()));
}

Result<Spans> spans_of(const Builder& b, const Pieces& p, const Conv& how) {
  Spans spans;
  Shape padded, kernel;
  bool fits = true;
  for (int i = 0; i < p.spatial; ++i) {
    const auto at = static_cast<size_t>(i);
    Span span{b.extent(p.weight, 2 + i), how.stride[at], how.dilation[at], how.before[at],
              how.after[at]};
    if (span.stride <= 0) return input_error("non-positive stride is not supported");
    if (span.dilation <= 0) return input_error("dilation should be greater than zero");
    if (span.before.value() < 0) return input_error("negative padding is not supported");
    padded.push_back(b.extent(p.x, 2 + i) + span.before + span.after);
    kernel.push_back(reach(span));
    fits = fits && span.size.value() > 0 && kernel.back().value() <= padded.back().value();
    spans.push_back(std::move(span));
  }
  if (fits) return spans;
  return input_error(
      "Calculated padded input size per channel: {}. Kernel size: {}. Kernel size can't be greater "
      "than actual input size",
      times_text(padded), times_text(kernel));
}

// [N, C, S…] -> [N, G, C/G * K…, O…].
Result<NodeId> patches_of(Builder& b, const Pieces& p, NodeId x, const Spans& spans, Shape* out) {
  const NodeId seen = KW_TRY(windows(b, x, spans, 0));
  const Shape shape = b[seen].shape;
  *out = Shape(shape.begin() + 2, shape.begin() + 2 + p.spatial);
  const NodeId turned = KW_TRY(move_back(b, seen, 2, 2 + p.spatial));
  const Dim depth = p.grouped(b, p.x, 1) * product_of(shape, static_cast<size_t>(2 + p.spatial));
  return b.reshape(turned, grouped_matrix(p, shape[0], depth, count_of(*out)));
}

}  // namespace

Result<NodeId> conv(Builder& b, NodeId x, NodeId weight, MaybeBias bias, const Conv& how) {
  const Pieces p = KW_TRY(pieces_of(b, x, weight, bias, how.groups, false));
  const Spans spans = KW_TRY(spans_of(b, p, how));
  const DType type = b.dtype(x);
  // A product without bias is rounded once by itself.
  const DType inner = bias ? opmath(type) : type;
  Shape shape;
  const NodeId patches = KW_TRY(patches_of(b, p, b.cast(p.x, inner), spans, &shape));
  const Dim depth = b.extent(patches, b.rank(patches) - 2);
  const NodeId matrix =
      KW_TRY(weight_matrix(b, p, b.cast(weight, inner), p.grouped(b, weight, 0), depth));
  const NodeId product = KW_TRY(b.matmul(matrix, patches));
  shape.insert(shape.begin(), {b.extent(p.x, 0), b.extent(weight, 0)});
  const NodeId y = KW_TRY(b.reshape(product, std::move(shape)));
  return finish(b, y, p, bias, type);
}

namespace {

// Maps the elements of the result to the folded windows.
Result<Spans> transposed_spans(const Builder& b, const Pieces& p, const ConvTranspose& how,
                               Shape* out) {
  Spans spans;
  for (int i = 0; i < p.spatial; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t pad = how.padding[at], more = how.output_padding[at];
    Span span{b.extent(p.weight, 2 + i), how.stride[at], how.dilation[at], Dim(pad),
              Dim(pad - more)};
    if (span.stride <= 0) return input_error("non-positive stride is not supported");
    if (span.dilation <= 0) return input_error("dilation should be greater than zero");
    if (pad < 0) return input_error("negative padding is not supported");
    if (more < 0) return input_error("negative output_padding is not supported");
    if (more >= span.stride && more >= span.dilation) {
      return input_error(
          "output padding must be smaller than either stride or dilation, but got output_padding: "
          "{} stride: {} dilation: {}",
          more, span.stride, span.dilation);
    }
    const Dim full = (b.extent(p.x, 2 + i) - Dim(1)) * Dim(span.stride) + reach(span);
    out->push_back(full - Dim(2 * pad) + Dim(more));
    if (out->back().value() < 1) {
      return input_error(
          "Given input size per channel: {}. Calculated output size per channel: {}. Output size "
          "is too small",
          b.extent(p.x, 2 + i).value(), out->back().value());
    }
    spans.push_back(std::move(span));
  }
  return spans;
}

}  // namespace

Result<NodeId> conv_transpose(Builder& b, NodeId x, NodeId weight, MaybeBias bias,
                              const ConvTranspose& how) {
  const Pieces p = KW_TRY(pieces_of(b, x, weight, bias, how.groups, true));
  Shape extents;
  const Spans spans = KW_TRY(transposed_spans(b, p, how, &extents));
  const DType type = b.dtype(x), inner = opmath(type);
  const Shape& in = b[p.x].shape;
  const Dim batch = in[0], depth = p.grouped(b, p.x, 1);
  const Shape places(in.begin() + 2, in.end());
  const Shape kernel(b[weight].shape.begin() + 2, b[weight].shape.end());
  const Dim outs = b.extent(weight, 1), rows = outs * count_of(kernel);
  // [G, C/G, O/G * K…] transposed, for every sample.
  const NodeId upright = KW_TRY(weight_matrix(b, p, b.cast(weight, inner), depth, rows));
  const NodeId matrix = KW_TRY(transpose(b, upright, -1, -2));
  const NodeId flat =
      KW_TRY(b.reshape(b.cast(p.x, inner), grouped_matrix(p, batch, depth, count_of(places))));
  const NodeId product = KW_TRY(b.matmul(matrix, flat));
  Shape columns = {batch, outs * how.groups};
  columns.insert(columns.end(), kernel.begin(), kernel.end());
  columns.insert(columns.end(), places.begin(), places.end());
  const NodeId split = KW_TRY(b.reshape(product, std::move(columns)));
  const NodeId seen = KW_TRY(move_back(b, split, 2, 2 + p.spatial));
  const NodeId y = KW_TRY(fold_windows(b, seen, spans, extents));
  return finish(b, y, p, bias, type);
}

Result<NodeId> im2col(Builder& b, NodeId x, const Spans& spans) {
  const int n = static_cast<int>(spans.size());
  const bool batched = b.rank(x) == n + 2;
  if (!batched && b.rank(x) != n + 1) {
    return input_error("Expected {}D or {}D (batch mode) tensor for input, but got size: {}", n + 1,
                       n + 2, values_text(b[x].shape));
  }
  const NodeId seen = KW_TRY(windows(b, x, spans, 0));
  const int first = b.rank(x) - n;
  const Shape shape = b[seen].shape;
  const Dim places = count_of(Shape(shape.begin() + first, shape.begin() + first + n));
  const Dim rows =
      shape[static_cast<size_t>(first - 1)] * product_of(shape, static_cast<size_t>(first + n));
  const NodeId turned = KW_TRY(move_back(b, seen, first, first + n));
  if (batched) return b.reshape(turned, {shape[0], rows, places});
  return b.reshape(turned, {rows, places});
}

Result<NodeId> col2im(Builder& b, NodeId x, const Spans& spans, const Shape& extents) {
  const int n = static_cast<int>(spans.size());
  const bool batched = b.rank(x) == 3;
  if (!batched && b.rank(x) != 2) {
    return input_error(
        "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
        "dimensions for input, but got: {}",
        values_text(b[x].shape));
  }
  Shape counts, kernel;
  for (size_t i = 0; i < spans.size(); ++i) {
    counts.push_back(window_count(extents[i], spans[i]));
    kernel.push_back(spans[i].size);
  }
  const Dim rows = b.extent(x, batched ? 1 : 0), per_channel = count_of(kernel);
  if (per_channel.value() < 1 || rows.value() % per_channel.value() != 0) {
    return input_error(
        "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but "
        "got input.size(1)={} and kernel_size={}.",
        rows.value(), values_text(kernel));
  }
  const Dim places = b.extent(x, batched ? 2 : 1);
  if (!(places == count_of(counts)) || counts[0].value() < 1) {
    return input_error(
        "Given output_size={}, kernel_size={}, expected size of input's dimension 2 to match the "
        "calculated number of sliding blocks {} = {}, but got input.size(2)={}.",
        values_text(extents), values_text(kernel), times_text(counts), count_of(counts).value(),
        places.value());
  }
  Shape columns;
  if (batched) columns.push_back(b.extent(x, 0));
  columns.push_back(floor_div(rows, per_channel));
  const int first = static_cast<int>(columns.size());
  columns.insert(columns.end(), kernel.begin(), kernel.end());
  columns.insert(columns.end(), counts.begin(), counts.end());
  const NodeId split = KW_TRY(b.reshape(b.cast(x, opmath(b.dtype(x))), std::move(columns)));
  const NodeId seen = KW_TRY(move_back(b, split, first, first + n));
  const NodeId y = KW_TRY(fold_windows(b, seen, spans, extents));
  return b.cast(y, b.dtype(x));
}

}  // namespace kw::graph
