#include "cases.h"

#include <fmt/core.h>

#include <cmath>

#include "graph/compose_norm.h"
#include "graph/compose_reduce.h"
#include "ports/bound.h"

namespace kw::truth_tests {

namespace {

using graph::NodeId;
using graph::Op;
using graph::Operand;
using tensor::DType;
using truth::TestGraph;

NodeId wide(TestGraph& g, NodeId x) { return g.builder.cast(x, DType::Fp32); }
NodeId back(TestGraph& g, NodeId y, NodeId x) { return g.builder.cast(y, g.builder[x].dtype); }
int64_t columns_of(TestGraph& g, NodeId x) { return g.builder[x].shape[1].value(); }

NodeId affine(TestGraph& g, NodeId x, NodeId w) {
  return g.binary(Op::Add, g.binary(Op::Mul, x, w), w);
}
NodeId rms_norm(TestGraph& g, NodeId x, NodeId w) {
  const NodeId v = wide(g, x);
  const NodeId sum = g.reduce(Op::Sum, g.binary(Op::Mul, v, v), {1});
  const NodeId mean = g.binary(Op::Div, sum, static_cast<double>(columns_of(g, x)));
  const NodeId scale = g.unary(Op::Rsqrt, g.binary(Op::Add, mean, 1e-6));
  return g.binary(Op::Mul, back(g, g.binary(Op::Mul, v, scale), x), w);
}
NodeId layer_norm(TestGraph& g, NodeId x, NodeId w) {
  return g.got(graph::layer_norm(g.builder, x, {columns_of(g, x)}, w, w, 1e-5));
}
NodeId softmax(TestGraph& g, NodeId x, NodeId) { return g.got(graph::softmax(g.builder, x, 1)); }
NodeId log_softmax(TestGraph& g, NodeId x, NodeId) {
  return g.got(graph::log_softmax(g.builder, x, 1));
}
NodeId gelu(TestGraph& g, NodeId x, NodeId) {
  const NodeId erf = g.unary(Op::Erf, g.binary(Op::Mul, x, 0.7071067811865476));
  return g.binary(Op::Mul, g.binary(Op::Mul, x, 0.5), g.binary(Op::Add, erf, 1.0));
}
NodeId erfcx(TestGraph& g, NodeId x, NodeId) { return g.unary(Op::Erfcx, x); }
NodeId gelu_tanh(TestGraph& g, NodeId x, NodeId) {
  const NodeId cube = g.binary(Op::Mul, g.binary(Op::Mul, x, x), x);
  const NodeId inner = g.binary(Op::Mul, g.binary(Op::Add, x, g.binary(Op::Mul, cube, 0.044715)),
                                0.7978845608028654);
  const NodeId one = g.binary(Op::Add, g.unary(Op::Tanh, inner), 1.0);
  return g.binary(Op::Mul, g.binary(Op::Mul, x, 0.5), one);
}
NodeId softplus(TestGraph& g, NodeId x) { return g.unary(Op::Log1p, g.unary(Op::Exp, x)); }
NodeId mish(TestGraph& g, NodeId x, NodeId) {
  return g.binary(Op::Mul, x, g.unary(Op::Tanh, softplus(g, x)));
}
NodeId log_sigmoid(TestGraph& g, NodeId x, NodeId) {
  const NodeId least = g.binary(Op::Minimum, x, 0.0);
  const NodeId tail = g.unary(Op::Log1p, g.unary(Op::Exp, g.unary(Op::Neg, g.unary(Op::Abs, x))));
  return g.binary(Op::Sub, least, tail);
}
NodeId celu(TestGraph& g, NodeId x, NodeId) {
  const NodeId low = g.binary(Op::Mul, g.unary(Op::Expm1, g.binary(Op::Div, x, 1.3)), 1.3);
  return g.binary(Op::Add, g.binary(Op::Maximum, x, 0.0), g.binary(Op::Minimum, low, 0.0));
}
NodeId selu(TestGraph& g, NodeId x, NodeId) {
  const NodeId low = g.binary(Op::Mul, g.unary(Op::Expm1, x), 1.6732632423543772);
  const NodeId above = g.binary(Op::Gt, x, 0.0);
  const NodeId chosen = g.got(g.builder.where(above, Operand::tensor(x), Operand::tensor(low)));
  return g.binary(Op::Mul, chosen, 1.0507009873554805);
}
NodeId clamp(TestGraph& g, NodeId x, NodeId) {
  return g.binary(Op::Minimum, g.binary(Op::Maximum, x, -0.5), 0.75);
}
NodeId add_relu(TestGraph& g, NodeId x, NodeId w) {
  return g.binary(Op::Maximum, g.binary(Op::Add, x, w), 0.0);
}
NodeId sigmoid_sine(TestGraph& g, NodeId x, NodeId w) {
  return g.binary(Op::Mul, g.unary(Op::Sigmoid, x), g.unary(Op::Sin, g.binary(Op::Mul, x, w)));
}
NodeId power(TestGraph& g, NodeId x, NodeId) {
  return g.binary(Op::Pow, g.binary(Op::Add, g.unary(Op::Abs, x), 0.25), 1.7);
}
NodeId row_sum(TestGraph& g, NodeId x, NodeId) { return g.reduce(Op::Sum, x, {1}); }
NodeId column_sum(TestGraph& g, NodeId x, NodeId) { return g.reduce(Op::Sum, x, {0}); }
NodeId whole_sum(TestGraph& g, NodeId x, NodeId) { return g.reduce(Op::Sum, x, {0, 1}); }
NodeId product_sum(TestGraph& g, NodeId x, NodeId w) {
  return g.reduce(Op::Sum, g.binary(Op::Mul, x, w), {1});
}
NodeId row_max(TestGraph& g, NodeId x, NodeId w) {
  return g.reduce(Op::Max, g.binary(Op::Mul, x, w), {1});
}
NodeId column_min(TestGraph& g, NodeId x, NodeId w) {
  return g.reduce(Op::Min, g.unary(Op::Exp, g.binary(Op::Mul, x, w)), {0});
}
NodeId column_var(TestGraph& g, NodeId x, NodeId) {
  return g.got(graph::var(g.builder, x, {0}, 1, true));
}
NodeId turned(TestGraph& g, NodeId x, NodeId w) {
  const NodeId y = g.got(g.builder.permute(g.binary(Op::Add, x, w), {1, 0}));
  return g.got(g.builder.slice(y, 0, 1, columns_of(g, x), 2));
}
NodeId causal(TestGraph& g, NodeId x, NodeId) {
  const graph::Shape shape = g.builder[x].shape;
  const NodeId row = g.builder.iota(shape, 0, DType::Int64);
  const NodeId column = g.builder.iota(shape, 1, DType::Int64);
  return g.got(
      g.builder.where(g.binary(Op::Le, column, row), Operand::tensor(x), Operand::of(-INFINITY)));
}
/// Casts to 8 bits that are computed with, and what follows them.
NodeId snapped(TestGraph& g, NodeId x, NodeId w) {
  const NodeId scaled = g.binary(Op::Mul, g.binary(Op::Mul, wide(g, x), wide(g, w)), 1.1);
  const NodeId fine = wide(g, g.builder.cast(scaled, DType::Fp8e4m3));
  const NodeId coarse = wide(g, g.builder.cast(g.binary(Op::Sub, fine, scaled), DType::Fp8e5m2));
  return back(g, g.reduce(Op::Sum, g.binary(Op::Add, g.binary(Op::Mul, fine, 3.0), coarse), {1}),
              x);
}
NodeId rounded(TestGraph& g, NodeId x, NodeId w) {
  return g.unary(Op::Floor, g.binary(Op::Div, x, w));
}
NodeId running_sum(TestGraph& g, NodeId x, NodeId w) {
  return g.got(g.builder.scan(Op::CumSum, g.binary(Op::Mul, x, w), 1));
}
NodeId running_column(TestGraph& g, NodeId x, NodeId) {
  return g.got(g.builder.scan(Op::CumSum, x, 0, true, true));
}
NodeId running_max(TestGraph& g, NodeId x, NodeId) {
  return g.got(g.builder.scan(Op::CumMax, x, 1));
}

// Cancels what its errors stay of: near zero everywhere.
NodeId shaky(TestGraph& g, NodeId x, NodeId w) {
  const NodeId far = g.binary(Op::Add, g.binary(Op::Mul, x, w), 3000.0);
  return g.binary(Op::Sub, far, 3000.0);
}
NodeId chosen(TestGraph& g, NodeId condition, Operand x, Operand z) {
  return g.got(g.builder.where(condition, x, z));
}
// What autodiff makes of relu: the gradient or nothing.
NodeId relu_gradient(TestGraph& g, NodeId x, NodeId w) {
  const NodeId y = shaky(g, x, w);
  return chosen(g, g.binary(Op::Le, y, 0.0), Operand::of(0.0),
                Operand::tensor(g.binary(Op::Mul, x, y)));
}
NodeId relu_gradient_sum(TestGraph& g, NodeId x, NodeId w) {
  return g.reduce(Op::Sum, relu_gradient(g, x, w), {0});
}
NodeId relu_gradient_whole(TestGraph& g, NodeId x, NodeId w) {
  return g.reduce(Op::Sum, relu_gradient(g, x, w), {0, 1});
}
NodeId jumping_max(TestGraph& g, NodeId x, NodeId w) {
  return g.reduce(Op::Max, g.binary(Op::Mul, relu_gradient(g, x, w), -1.0), {0});
}
NodeId jumping_min(TestGraph& g, NodeId x, NodeId w) {
  return g.reduce(Op::Min, relu_gradient(g, x, w), {0});
}
NodeId jumping_product(TestGraph& g, NodeId x, NodeId w) {
  const NodeId y = relu_gradient(g, x, w);
  return g.got(g.builder.matmul(y, g.got(g.builder.permute(y, {1, 0}))));
}
NodeId jumping_scan(TestGraph& g, NodeId x, NodeId w) {
  return g.got(g.builder.scan(Op::CumSum, relu_gradient(g, x, w), 1));
}
// Through ops that are monotone, turn around, have poles, or choose.
NodeId jumping_functions(TestGraph& g, NodeId x, NodeId w) {
  const NodeId y = relu_gradient(g, x, w);
  const NodeId waves =
      g.binary(Op::Add, g.unary(Op::Sin, y), g.unary(Op::Cosh, g.unary(Op::Tanh, y)));
  const NodeId parts =
      g.binary(Op::Div, g.unary(Op::Abs, y), g.binary(Op::Add, g.unary(Op::Exp, y), 2.0));
  const NodeId most = g.binary(Op::Maximum, waves, g.binary(Op::Sub, parts, y));
  return g.binary(Op::Minimum, most, g.unary(Op::Reciprocal, y));
}
NodeId step_sum(TestGraph& g, NodeId x, NodeId w) {
  const NodeId y = shaky(g, x, w);
  const NodeId floors =
      g.binary(Op::Add, g.unary(Op::Floor, y), g.unary(Op::Round, g.binary(Op::Mul, y, 3.0)));
  return g.binary(Op::Add, floors,
                  g.unary(Op::Floor, g.binary(Op::Mul, g.unary(Op::Sign, y), 0.75)));
}
NodeId masks(TestGraph& g, NodeId x, NodeId w) {
  const NodeId y = shaky(g, x, w);
  const NodeId inside = g.binary(Op::And, g.binary(Op::Gt, y, -1.0), g.binary(Op::Lt, y, 1.0));
  const NodeId either = g.binary(Op::Or, g.unary(Op::Not, inside), g.builder.cast(y, DType::Bool));
  const NodeId whole = g.builder.cast(y, DType::Int32);
  const NodeId same = g.binary(Op::Eq, whole, g.builder.cast(x, DType::Int32));
  return chosen(g, g.binary(Op::Xor, either, same), Operand::tensor(x), Operand::tensor(y));
}
NodeId integer_result(TestGraph& g, NodeId x, NodeId w) {
  return g.builder.cast(g.binary(Op::Mul, shaky(g, x, w), 2.0), DType::Int32);
}

graph::Attrs steps(int dim, int64_t stride, int64_t dilation) {
  graph::Attrs attrs = truth::along(dim);
  attrs.steps = {stride, dilation};
  return attrs;
}
// [rows, columns] padded by 2 in front and 1 behind, in windows of 3 with gaps of 1, two apart.
NodeId windows(TestGraph& g, NodeId x, double fill) {
  const int64_t rows = g.builder[x].shape[0].value(), columns = columns_of(g, x);
  graph::Attrs front;
  front.starts = {0, 2};
  front.number = fill;
  const NodeId padded = g.add(Op::Pad, {x}, front, {rows, columns + 3});
  return g.add(Op::Window, {padded}, steps(1, 2, 2), {rows, (columns - 2) / 2 + 1, 3});
}
NodeId max_pool(TestGraph& g, NodeId x, NodeId w) {
  return g.reduce(Op::Max, windows(g, g.binary(Op::Mul, x, w), -INFINITY), {2});
}
// What autodiff makes of max pooling: the gradient at the first of the largest.
NodeId max_pool_gradient(TestGraph& g, NodeId x, NodeId w) {
  const NodeId seen = windows(g, shaky(g, x, w), -INFINITY);
  const NodeId best = g.reduce(Op::ArgMax, seen, {2});
  const NodeId place = g.builder.iota(g.builder[seen].shape, 2, DType::Int64);
  const NodeId here = g.binary(Op::Eq, place, g.got(g.builder.expand(best, g.builder[seen].shape)));
  const NodeId kept = chosen(g, here, Operand::tensor(windows(g, x, 1)), Operand::of(0.0));
  return g.add(Op::Fold, {kept}, steps(1, 2, 2),
               {g.builder[x].shape[0], graph::Dim(columns_of(g, x) + 3)});
}
NodeId smallest_of_columns(TestGraph& g, NodeId x, NodeId w) {
  const NodeId some = g.got(g.builder.slice(shaky(g, x, w), 0, 0, 37));
  const NodeId best = g.reduce(Op::ArgMin, some, {0});
  return g.binary(Op::Mul, g.builder.cast(best, DType::Fp32), 0.25);
}
NodeId best_of_many(TestGraph& g, NodeId x, NodeId w) {
  const NodeId best = g.reduce(Op::ArgMax, shaky(g, x, w), {1});
  return g.binary(Op::Mul, g.builder.cast(best, DType::Fp32), 0.25);
}
NodeId number(TestGraph& g, int64_t value) {
  return g.builder.constant(DType::Int64, static_cast<double>(value));
}
// Elements by an index that is certain, or near a step; rows by number; whole divisions.
NodeId picked(TestGraph& g, NodeId x, NodeId w) {
  const graph::Shape shape = g.builder[x].shape;
  const NodeId row = g.builder.iota(shape, 0, DType::Int64);
  const NodeId column = g.builder.iota(shape, 1, DType::Int64);
  const NodeId turned = g.binary(Op::Add, g.binary(Op::Mul, row, number(g, 7)), column);
  const NodeId at = g.binary(Op::Remainder, turned, number(g, columns_of(g, x)));
  return g.add(Op::Gather, {g.unary(Op::Tanh, relu_gradient(g, x, w)), at}, truth::along(1));
}
NodeId picked_near_a_step(TestGraph& g, NodeId x, NodeId w) {
  const NodeId y = g.binary(Op::Maximum, g.binary(Op::Minimum, shaky(g, x, w), 2.5), 0.25);
  return g.add(Op::Gather, {x, g.builder.cast(y, DType::Int64)}, truth::along(1));
}
NodeId selected(TestGraph& g, NodeId x, NodeId w) {
  const int64_t rows = g.builder[x].shape[0].value();
  const NodeId row = g.builder.iota({rows}, 0, DType::Int64);
  const NodeId third = g.binary(Op::FloorDiv, g.binary(Op::Sub, row, number(g, 11)), number(g, 3));
  const NodeId at = g.binary(Op::Remainder, third, number(g, rows));
  return g.add(Op::IndexSelect, {g.binary(Op::Mul, x, w), at}, truth::along(0));
}
NodeId padded_gradient(TestGraph& g, NodeId x, NodeId w) {
  return g.reduce(Op::Sum, windows(g, relu_gradient(g, x, w), 0), {2});
}
NodeId sum_pool(TestGraph& g, NodeId x, NodeId w) {
  return g.reduce(Op::Sum, windows(g, g.binary(Op::Mul, x, w), 0), {2});
}
NodeId joined_windows(TestGraph& g, NodeId x, NodeId) {
  const NodeId seen = g.got(g.builder.permute(windows(g, x, 1), {2, 0, 1}));
  const int64_t rows = g.builder[x].shape[0].value();
  const NodeId joined = g.got(g.builder.reshape(seen, {3 * rows, (columns_of(g, x) - 2) / 2 + 1}));
  return g.reduce(Op::Sum, g.unary(Op::Exp, joined), {0});
}
// What overlaps in threes, along the rows and across them.
NodeId thirds(TestGraph& g, NodeId x) {
  const int64_t n = columns_of(g, x) / 3;
  return g.got(g.builder.reshape(g.got(g.builder.slice(x, 1, 0, 3 * n)),
                                 {g.builder[x].shape[0], graph::Dim(n), graph::Dim(3)}));
}
NodeId folded(TestGraph& g, NodeId x, NodeId w) {
  const int64_t n = columns_of(g, x) / 3;
  return g.add(Op::Fold, {thirds(g, g.binary(Op::Mul, x, w))}, steps(1, 1, 2),
               {g.builder[x].shape[0], graph::Dim(n + 5)});
}
NodeId folded_rows(TestGraph& g, NodeId x, NodeId w) {
  const int64_t rows = g.builder[x].shape[0].value(), n = columns_of(g, x) / 3;
  return g.add(Op::Fold, {thirds(g, g.binary(Op::Add, x, w))}, steps(0, 2, 1), {2 * rows + 1, n});
}
NodeId product(TestGraph& g, NodeId x, NodeId w) {
  return g.got(g.builder.matmul(x, g.got(g.builder.permute(g.binary(Op::Mul, x, w), {1, 0}))));
}
// A convolution along the row with two filters made of the weight.
NodeId convolution(TestGraph& g, NodeId x, NodeId w) {
  const NodeId seen = g.got(g.builder.permute(windows(g, g.unary(Op::Tanh, x), 0), {0, 2, 1}));
  const NodeId weight = g.got(g.builder.reshape(g.got(g.builder.slice(w, 0, 0, 6)), {1, 2, 3}));
  const NodeId filters =
      g.got(g.builder.expand(weight, {g.builder[x].shape[0], graph::Dim(2), graph::Dim(3)}));
  return g.got(g.builder.matmul(filters, seen));
}

bool same_class(double x, double z) {
  if (std::isnan(x) || std::isnan(z)) return std::isnan(x) && std::isnan(z);
  if (std::isinf(x) || std::isinf(z)) return x == z;
  return true;
}

double entry(const tensor::Large<float>& values, size_t k) {
  return values.empty() ? 0 : static_cast<double>(values[k]);
}

uint8_t mark(const ports::Truth& truth, size_t k) {
  return truth.may_overflow.empty() ? 0 : truth.may_overflow[k];
}

// Where values cancel, errors that are relative to what is left follow it.
bool close(double want, double got, double slack) {
  if (want == got) return true;
  constexpr double kRelative = 1e-5, kStep = 0x1p-148;
  return std::fabs(want - got) <= kRelative * std::fabs(want) + slack + kStep;
}

}  // namespace

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"affine", affine},
      {"rms_norm", rms_norm},
      {"layer_norm", layer_norm},
      {"softmax", softmax},
      {"log_softmax", log_softmax},
      {"gelu", gelu},
      {"erfcx", erfcx},
      {"gelu_tanh", gelu_tanh},
      {"mish", mish},
      {"log_sigmoid", log_sigmoid},
      {"celu", celu},
      {"selu", selu},
      {"clamp", clamp},
      {"add_relu", add_relu},
      {"sigmoid_sine", sigmoid_sine},
      {"power", power},
      {"row_sum", row_sum},
      {"column_sum", column_sum},
      {"whole_sum", whole_sum},
      {"product_sum", product_sum},
      {"row_max", row_max},
      {"column_min", column_min},
      {"column_var", column_var},
      {"turned", turned},
      {"causal", causal},
      {"rounded", rounded},
      {"snapped", snapped},
      {"running_sum", running_sum},
      {"running_column", running_column},
      {"running_max", running_max, Case::Place::Cpu},
      {"max_pool", max_pool},
      {"sum_pool", sum_pool},
      {"joined_windows", joined_windows},
      {"folded", folded},
      {"folded_rows", folded_rows},
      {"product", product},
      {"convolution", convolution},
      {"relu_gradient", relu_gradient, Case::Place::Device, true},
      {"relu_gradient_sum", relu_gradient_sum, Case::Place::Device, true},
      {"relu_gradient_whole", relu_gradient_whole, Case::Place::Device, true},
      {"jumping_max", jumping_max, Case::Place::Device, true},
      {"jumping_min", jumping_min, Case::Place::Device, true},
      {"jumping_product", jumping_product, Case::Place::Device, true},
      {"jumping_scan", jumping_scan, Case::Place::Either, true},
      {"jumping_functions", jumping_functions, Case::Place::Device, true},
      {"step_sum", step_sum, Case::Place::Device, true},
      {"masks", masks, Case::Place::Device, true},
      {"integer_result", integer_result, Case::Place::Device, true},
      {"max_pool_gradient", max_pool_gradient, Case::Place::Device, true},
      {"smallest_of_columns", smallest_of_columns, Case::Place::Device, true},
      {"best_of_many", best_of_many, Case::Place::Cpu, true},
      {"padded_gradient", padded_gradient, Case::Place::Device, true},
      {"picked", picked, Case::Place::Device, true},
      {"picked_near_a_step", picked_near_a_step, Case::Place::Either, true},
      {"selected", selected},
  };
  return kCases;
}

Made make(const Case& c, DType dtype, tensor::Family family, int64_t rows, int64_t columns) {
  TestGraph g;
  const NodeId x = g.input(*tensor::make_input(dtype, {rows, columns}, family, 11));
  const NodeId w = g.input(*tensor::make_input(dtype, {columns}, tensor::Family::Normal, 12));
  const NodeId y = c.build(g, x, w);
  Made made;
  made.graph = g.finish({y});
  made.inputs = g.inputs();
  return made;
}

std::string difference(const ports::Truth& want, const ports::Truth& got) {
  if (want.value.size() != got.value.size() || want.shape != got.shape || want.dtype != got.dtype)
    return "another shape or type";
  if (want.exact != got.exact) return "exact or not";
  if (!(want.integers == got.integers)) return "other integers";
  for (size_t k = 0; k < want.value.size(); ++k) {
    const double x = want.value[k], z = got.value[k];
    const double bound = ports::bound_at(want, static_cast<int64_t>(k), false);
    // An exponent that is an integer but for its rounding: either has a power of a negative number,
    // or neither knows anything.
    if (std::isnan(x) != std::isnan(z) && !std::isfinite(bound) &&
        !std::isfinite(ports::bound_at(got, static_cast<int64_t>(k), false)))
      continue;
    if (mark(want, k) != mark(got, k)) return fmt::format("element {} may overflow, or not", k);
    bool right = same_class(x, z);
    if (!std::isfinite(bound)) {
      // Nothing is known of the element but its class.
      right = right && !std::isfinite(ports::bound_at(got, static_cast<int64_t>(k), false));
    } else {
      // A bound larger than the value says that little of it is known. Another branch is a value
      // like any other.
      const double jump = entry(want.jump, k), errors = bound - jump;
      const double share = errors > std::fabs(x) ? 0.25 : 1e-6, room = share * errors + 1e-6 * jump;
      const double slack = want.exact ? 0 : 4 * 0x1p-52 * std::fabs(x) + room;
      right = right && (!std::isfinite(x) || std::fabs(x - z) <= slack) &&
              close(entry(want.a, k), entry(got.a, k), room) &&
              close(entry(want.h, k), entry(got.h, k), room) &&
              close(jump, entry(got.jump, k), room);
    }
    if (!right)
      return fmt::format("element {}: t {:a} a {} h {} jump {}, wanted t {:a} a {} h {} jump {}", k,
                         z, entry(got.a, k), entry(got.h, k), entry(got.jump, k), x,
                         entry(want.a, k), entry(want.h, k), entry(want.jump, k));
  }
  return "";
}

}  // namespace kw::truth_tests
