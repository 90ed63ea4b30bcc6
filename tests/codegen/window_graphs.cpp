#include "window_graphs.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "core/check.h"
#include "graph/builder.h"
#include "graph/compose_pool.h"
#include "graph/derive.h"
#include "tensor/inputs.h"

namespace kw::codegen_tests {
namespace {

using graph::Builder;
using graph::Dim;
using graph::NodeId;
using graph::Op;
using graph::Operand;
using graph::Shape;
using tensor::DType;

NodeId sure(Result<NodeId> made) {
  KW_CHECK(made.has_value(), made ? "" : made.error().message);
  return *made;
}

NodeId moved(Builder& b, Op op, NodeId x, Shape shape, graph::Attrs attrs) {
  return sure(b.add({op, {x}, b[x].dtype, std::move(shape), std::move(attrs), "", 0, 0}));
}

/// Extents of one spatial dim.
struct Along {
  int64_t size = 8, kernel = 3, stride = 1, pad = 0, dilation = 1;

  int64_t windows() const { return (size + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1; }
};

NodeId padded(Builder& b, NodeId x, const std::vector<Along>& along, double fill) {
  Shape shape = b[x].shape;
  graph::Attrs attrs;
  attrs.number = fill;
  attrs.starts.assign(shape.size(), Dim(0));
  bool pads = false;
  for (size_t i = 0; i < along.size(); ++i) {
    attrs.starts[2 + i] = Dim(along[i].pad);
    shape[2 + i] = shape[2 + i] + Dim(2 * along[i].pad);
    pads = pads || along[i].pad > 0;
  }
  return pads ? moved(b, Op::Pad, x, shape, attrs) : x;
}

/// [N, C, windows…, taps…].
NodeId windows(Builder& b, NodeId x, const std::vector<Along>& along) {
  for (size_t i = 0; i < along.size(); ++i) {
    Shape shape = b[x].shape;
    shape[2 + i] = Dim(along[i].windows());
    shape.emplace_back(along[i].kernel);
    graph::Attrs attrs;
    attrs.dims = {static_cast<int>(2 + i)};
    attrs.steps = {along[i].stride, along[i].dilation};
    x = moved(b, Op::Window, x, shape, attrs);
  }
  return x;
}

struct Conv {
  int64_t images = 2, channels = 4, results = 6, groups = 1;
  std::vector<Along> along;
  DType dtype = DType::Fp32;
  bool bias = false, relu = false, symbolic = false;
};

Dim images_of(const Conv& c) { return c.symbolic ? Dim::symbol("N", c.images) : Dim(c.images); }

Shape image_shape(const Conv& c, int64_t channels) {
  Shape shape = {images_of(c), Dim(channels)};
  for (const Along& one : c.along) shape.emplace_back(one.size);
  return shape;
}

NodeId conv(Builder& b, NodeId x, NodeId weight, const Conv& c) {
  const auto spatial = static_cast<int>(c.along.size());
  x = windows(b, padded(b, x, c.along, 0), c.along);
  std::vector<int> order = {0, 1};
  for (int i = 0; i < spatial; ++i) order.push_back(2 + spatial + i);
  for (int i = 0; i < spatial; ++i) order.push_back(2 + i);
  x = sure(b.permute(x, order));
  const Dim images = images_of(c), groups(c.groups), inside(c.channels / c.groups);
  Dim taps(1), places(1);
  Shape result = {images, Dim(c.results)};
  for (const Along& one : c.along) {
    taps = taps * Dim(one.kernel);
    places = places * Dim(one.windows());
    result.emplace_back(one.windows());
  }
  x = sure(b.reshape(x, {images, groups, inside * taps, places}));
  NodeId w = sure(b.reshape(weight, {groups, Dim(c.results / c.groups), inside * taps}));
  w = sure(b.expand(w, {images, groups, Dim(c.results / c.groups), inside * taps}));
  return sure(b.reshape(sure(b.matmul(w, x)), result));
}

WindowCase convolution(const std::string& name, const Conv& c) {
  Builder b;
  const NodeId x = b.input("x", c.dtype, image_shape(c, c.channels));
  Shape kernel = {Dim(c.results), Dim(c.channels / c.groups)}, line = {Dim(c.results)};
  for (const Along& one : c.along) {
    kernel.emplace_back(one.kernel);
    line.emplace_back(1);
  }
  const NodeId w = b.input("w", c.dtype, kernel);
  NodeId y = conv(b, x, w, c);
  if (c.bias) {
    const NodeId bias = b.input("bias", c.dtype, {Dim(c.results)});
    y = sure(b.binary(Op::Add, Operand::tensor(y), Operand::tensor(sure(b.reshape(bias, line)))));
  }
  if (c.relu) y = sure(b.binary(Op::Maximum, Operand::tensor(y), Operand::of(0.0)));
  return {name, std::move(b).finish({{"y", y}})};
}

WindowCase pool(const std::string& name, Op op, const Conv& c) {
  Builder b;
  NodeId x = b.input("x", c.dtype, image_shape(c, c.channels));
  const double fill = op == Op::Max ? -std::numeric_limits<double>::infinity() : 0.0;
  x = windows(b, padded(b, x, c.along, fill), c.along);
  std::vector<int> dims;
  for (size_t i = 0; i < c.along.size(); ++i)
    dims.push_back(static_cast<int>(2 + c.along.size() + i));
  NodeId y = sure(b.reduce(op, x, dims, false));
  if (c.relu) y = sure(b.unary(Op::Tanh, y));
  return {name, std::move(b).finish({{"y", y}})};
}

/// The gradients of another case.
WindowCase gradient(const WindowCase& forward) {
  Result<graph::Graph> made = graph::backward(forward.graph);
  KW_CHECK(made.has_value(), made ? "" : made.error().message);
  return {forward.name + "_backward", std::move(*made)};
}

/// The places of the largest elements get the gradient, where a relu before let them through.
WindowCase pool_gradient(const std::string& name, const Conv& c) {
  Builder b;
  NodeId x = b.input("x", c.dtype, image_shape(c, c.channels));
  if (c.relu) x = sure(b.binary(Op::Maximum, Operand::tensor(x), Operand::of(0.0)));
  graph::Pool pool;
  for (const Along& one : c.along) {
    pool.kernel.push_back(one.kernel);
    pool.stride.push_back(one.stride);
    pool.padding.push_back(one.pad);
    pool.dilation.push_back(one.dilation);
  }
  const NodeId y = sure(graph::max_pool(b, x, pool));
  return gradient({name, std::move(b).finish({{"y", y}})});
}

/// The sum of windows that lie over each other, from an input of windows.
NodeId folds(Builder& b, NodeId x, const std::vector<Along>& along) {
  for (size_t i = along.size(); i-- > 0;) {
    Shape shape = b[x].shape;
    shape.pop_back();
    shape[2 + i] =
        Dim((along[i].size - 1) * along[i].stride + along[i].dilation * (along[i].kernel - 1) + 1);
    graph::Attrs attrs;
    attrs.dims = {static_cast<int>(2 + i)};
    attrs.steps = {along[i].stride, along[i].dilation};
    x = moved(b, Op::Fold, x, shape, attrs);
    if (along[i].pad > 0) {
      x = sure(
          b.slice(x, static_cast<int>(2 + i), Dim(along[i].pad), shape[2 + i] - Dim(along[i].pad)));
    }
  }
  return x;
}

WindowCase folding(const std::string& name, const Conv& c) {
  Builder b;
  Shape shape = image_shape(c, c.channels);
  for (const Along& one : c.along) shape.emplace_back(one.kernel);
  NodeId y = folds(b, b.input("x", c.dtype, shape), c.along);
  if (c.relu) y = sure(b.unary(Op::Neg, y));
  return {name, std::move(b).finish({{"y", y}})};
}

WindowCase transposed(const std::string& name, const Conv& c) {
  Builder b;
  const NodeId x = b.input("x", c.dtype, image_shape(c, c.channels));
  Shape kernel = {Dim(c.channels), Dim(c.results / c.groups)};
  const Dim images = images_of(c), groups(c.groups), inside(c.channels / c.groups);
  Dim taps(1), places(1);
  for (const Along& one : c.along) {
    kernel.emplace_back(one.kernel);
    taps = taps * Dim(one.kernel);
    places = places * Dim(one.size);
  }
  const NodeId weight = b.input("w", c.dtype, kernel);
  const Dim wide = Dim(c.results / c.groups) * taps;
  NodeId w = sure(b.permute(sure(b.reshape(weight, {groups, inside, wide})), {0, 2, 1}));
  w = sure(b.expand(w, {images, groups, wide, inside}));
  NodeId y = sure(b.matmul(w, sure(b.reshape(x, {images, groups, inside, places}))));
  Shape all = {images, Dim(c.results)};
  for (const Along& one : c.along) all.emplace_back(one.kernel);
  for (const Along& one : c.along) all.emplace_back(one.size);
  y = sure(b.reshape(y, all));
  const auto spatial = static_cast<int>(c.along.size());
  std::vector<int> order = {0, 1};
  for (int i = 0; i < spatial; ++i) order.push_back(2 + spatial + i);
  for (int i = 0; i < spatial; ++i) order.push_back(2 + i);
  y = folds(b, sure(b.permute(y, order)), c.along);
  if (c.bias) {
    Shape line = {Dim(c.results)};
    for (size_t i = 0; i < c.along.size(); ++i) line.emplace_back(1);
    const NodeId bias = b.input("bias", c.dtype, {Dim(c.results)});
    y = sure(b.binary(Op::Add, Operand::tensor(y), Operand::tensor(sure(b.reshape(bias, line)))));
  }
  return {name, std::move(b).finish({{"y", y}})};
}

/// Convolution, activation, another one, pool, softmax over channels.
WindowCase chain(const std::string& name, const Conv& c) {
  Builder b;
  const NodeId x = b.input("x", c.dtype, image_shape(c, c.channels));
  Shape kernel = {Dim(c.results), Dim(c.channels)}, second = {Dim(c.results), Dim(c.results)};
  for (const Along& one : c.along) {
    kernel.emplace_back(one.kernel);
    second.emplace_back(one.kernel);
  }
  NodeId y = conv(b, x, b.input("w", c.dtype, kernel), c);
  y = sure(b.unary(Op::Sigmoid, y));
  Conv next = c;
  next.channels = c.results;
  for (Along& one : next.along) one.size = one.windows();
  y = conv(b, y, b.input("v", c.dtype, second), next);
  std::vector<Along> halves;
  std::vector<int> dims;
  for (const Along& one : next.along) {
    halves.push_back({one.windows(), 2, 2, 0, 1});
    dims.push_back(static_cast<int>(2 + c.along.size() + dims.size()));
  }
  y = sure(b.reduce(Op::Max, windows(b, sure(b.unary(Op::Tanh, y)), halves), dims, false));
  const NodeId top = sure(b.reduce(Op::Max, y, {1}, true));
  y = sure(b.unary(Op::Exp, sure(b.binary(Op::Sub, Operand::tensor(y), Operand::tensor(top)))));
  const NodeId sum = sure(b.reduce(Op::Sum, y, {1}, true));
  y = sure(b.binary(Op::Div, Operand::tensor(y), Operand::tensor(sum)));
  return {name, std::move(b).finish({{"y", y}})};
}

WindowCase attention(const std::string& name, DType dtype, int64_t length, int64_t width,
                     bool causal) {
  Builder b;
  const Shape shape = {Dim(2), Dim(3), Dim(length), Dim(width)};
  const NodeId q = b.input("q", dtype, shape), k = b.input("k", dtype, shape);
  const NodeId v = b.input("v", dtype, shape);
  NodeId s = sure(b.matmul(q, sure(b.permute(k, {0, 1, 3, 2}))));
  s = sure(b.binary(Op::Mul, Operand::tensor(s), Operand::of(1.0 / std::sqrt(width))));
  if (causal) {
    const Shape square = {Dim(length), Dim(length)};
    const NodeId row = b.iota(square, 0, DType::Int64), column = b.iota(square, 1, DType::Int64);
    const NodeId seen = sure(b.binary(Op::Ge, Operand::tensor(row), Operand::tensor(column)));
    s = sure(
        b.where(seen, Operand::tensor(s), Operand::of(-std::numeric_limits<double>::infinity())));
  }
  const NodeId top = sure(b.reduce(Op::Max, s, {3}, true));
  s = sure(b.unary(Op::Exp, sure(b.binary(Op::Sub, Operand::tensor(s), Operand::tensor(top)))));
  const NodeId sum = sure(b.reduce(Op::Sum, s, {3}, true));
  s = sure(b.binary(Op::Div, Operand::tensor(s), Operand::tensor(sum)));
  NodeId y = sure(b.matmul(s, v));
  y = sure(b.reshape(sure(b.permute(y, {0, 2, 1, 3})), {Dim(2), Dim(length), Dim(3 * width)}));
  return {name, std::move(b).finish({{"y", y}})};
}

}  // namespace

std::vector<WindowCase> window_cases() {
  const Along plain{9, 3, 1, 1, 1}, wide{11, 3, 1, 1, 1}, strided{11, 3, 2, 1, 1};
  const Along dilated{12, 3, 1, 2, 2}, narrow{7, 1, 1, 0, 1}, tall{13, 5, 3, 2, 1};
  std::vector<WindowCase> all;
  all.push_back(convolution("conv2d", {2, 4, 6, 1, {plain, wide}, DType::Fp32, true, true, false}));
  all.push_back(
      convolution("conv2d_dims", {3, 5, 70, 1, {plain, strided}, DType::Fp32, true, false, true}));
  all.push_back(convolution("conv1d", {3, 5, 7, 1, {tall}, DType::Fp32, false, false, true}));
  all.push_back(convolution("conv3d", {1,
                                       2,
                                       3,
                                       1,
                                       {{5, 3, 1, 1, 1}, {6, 2, 2, 0, 1}, {7, 3, 1, 1, 1}},
                                       DType::Fp32,
                                       true,
                                       false,
                                       false}));
  all.push_back(convolution("conv2d_groups",
                            {2, 8, 12, 4, {strided, dilated}, DType::Fp32, true, false, false}));
  all.push_back(
      convolution("conv2d_depthwise", {2, 6, 6, 6, {plain, wide}, DType::Fp32, true, true, true}));
  all.push_back(convolution("conv2d_multiplier",
                            {2, 3, 6, 3, {strided, wide}, DType::Fp32, false, false, false}));
  all.push_back(convolution("conv2d_pointwise",
                            {2, 20, 9, 1, {narrow, narrow}, DType::Fp32, false, true, true}));
  all.push_back(
      convolution("conv2d_half", {2, 16, 24, 1, {plain, strided}, DType::Fp16, true, true, false}));
  all.push_back(
      convolution("conv2d_double", {1, 3, 5, 1, {plain, plain}, DType::Fp64, false, false, false}));
  all.push_back(
      pool("max_pool", Op::Max, {2, 3, 0, 1, {strided, strided}, DType::Fp32, false, false, true}));
  all.push_back(
      pool("max_pool_dense", Op::Max, {2, 3, 0, 1, {wide, wide}, DType::Fp32, false, true, true}));
  all.push_back(
      pool("sum_pool", Op::Sum,
           {2, 3, 0, 1, {{8, 2, 2, 0, 1}, {10, 2, 2, 0, 1}}, DType::Fp16, false, false, false}));
  all.push_back(
      pool("sum_pool_large", Op::Sum,
           {1, 2, 0, 1, {{15, 11, 2, 3, 1}, {14, 11, 3, 5, 1}}, DType::Fp32, false, true, false}));
  all.push_back(pool("max_pool1d", Op::Max,
                     {2, 3, 0, 1, {{20, 4, 2, 1, 3}}, DType::Bf16, false, false, false}));
  all.push_back(pool("max_pool3d", Op::Max,
                     {1,
                      2,
                      0,
                      1,
                      {{6, 3, 2, 1, 1}, {7, 2, 2, 0, 1}, {9, 3, 1, 1, 1}},
                      DType::Fp32,
                      false,
                      false,
                      false}));
  all.push_back(folding(
      "fold", {2, 3, 0, 1, {{5, 3, 2, 1, 1}, {4, 3, 1, 0, 2}}, DType::Fp32, false, true, true}));
  all.push_back(
      folding("fold1d", {2, 3, 0, 1, {{7, 70, 3, 0, 1}}, DType::Fp16, false, false, false}));
  all.push_back(
      transposed("transposed",
                 {2, 4, 6, 1, {{5, 3, 2, 1, 1}, {4, 4, 2, 1, 1}}, DType::Fp32, true, false, true}));
  all.push_back(transposed(
      "transposed_dense",
      {2, 4, 6, 2, {{5, 3, 1, 0, 2}, {6, 3, 1, 1, 1}}, DType::Fp32, false, false, false}));
  all.push_back(transposed("transposed1d",
                           {2, 5, 3, 1, {{7, 2, 3, 0, 1}}, DType::Fp32, false, false, false}));
  for (const size_t forward : {0, 1, 4, 8}) all.push_back(gradient(all[forward]));
  // Few channels, many pixels: long sums for the weight, few rows for the input.
  const Along many{48, 3, 1, 1, 1}, tall_many{49, 3, 2, 0, 1}, wide_many{50, 2, 1, 0, 2};
  all.push_back(gradient(
      convolution("one_channel", {4, 1, 5, 1, {many, many}, DType::Fp32, true, true, true})));
  all.push_back(gradient(convolution(
      "three_channels", {8, 3, 20, 1, {tall_many, wide_many}, DType::Fp16, false, false, false})));
  const auto pools = [&](const char* name, Along down, Along across, DType dtype, bool relu) {
    all.push_back(pool_gradient(name, {2, 3, 0, 1, {down, across}, dtype, false, relu, true}));
  };
  pools("max_pool_pairs", {6, 2, 2, 0, 1}, {12, 2, 2, 0, 1}, DType::Fp32, false);
  pools("max_pool_relu_pairs", {4, 2, 2, 0, 1}, {10, 2, 2, 0, 1}, DType::Fp32, true);
  pools("max_pool_odd", {7, 2, 2, 0, 1}, {9, 2, 2, 0, 1}, DType::Fp32, true);
  pools("max_pool_fours", {8, 4, 4, 0, 1}, {16, 4, 4, 0, 1}, DType::Bf16, false);
  pools("max_pool_threes", {9, 3, 3, 0, 1}, {10, 3, 3, 0, 1}, DType::Fp32, false);
  pools("max_pool_overlap", {9, 3, 2, 1, 1}, {8, 3, 2, 1, 1}, DType::Fp32, true);
  all.push_back(chain("chain", {2, 3, 8, 1, {plain, wide}, DType::Fp32, false, false, true}));
  all.push_back(attention("attention", DType::Fp32, 37, 16, false));
  all.push_back(attention("attention_causal", DType::Fp16, 40, 32, true));
  return all;
}

std::vector<tensor::HostTensor> inputs_for(const graph::Graph& graph, uint64_t seed) {
  std::vector<tensor::HostTensor> inputs;
  for (const graph::NamedNode& input : graph.inputs) {
    const graph::Node& node = graph[input.node];
    inputs.push_back(*tensor::make_input(node.dtype, graph::values_of(node.shape),
                                         tensor::Family::Normal, seed + inputs.size()));
  }
  return inputs;
}

}  // namespace kw::codegen_tests
