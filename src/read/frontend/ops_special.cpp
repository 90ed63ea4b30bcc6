// Rarer functions of numbers: Bessel functions, steps, quantisation that keeps floats.
#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_move.h"
#include "graph/compose_reduce.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;
using graph::Op;
using tensor::DType;

// The modified Bessel functions are means of exp(x cos t) over a period; for order 1, times cos t.
// With equally spaced points the mean converges faster than any power. 256 points are exact to fp64
// over its range.
constexpr int kPoints = 256;

Result<Value> bessel(Call& call, bool first_order, bool scaled) {
  Formula f(call);
  Term x = f.tensor("input");
  if (f.failed()) return f.result(x);
  const DType type = graph::float_type(f.dtype(x));
  if (type != DType::Fp32 && type != DType::Fp64) return not_implemented(call, type);
  graph::Builder& g = call.graph();
  const int rank = f.rank(x);
  Term column = f.node(graph::unsqueeze(g, cast(x, type).value.node, rank));
  Term angle = f.node(g.iota({Dim(kPoints)}, 0, type)) * (2 * std::numbers::pi / kPoints);
  Term cosine = apply(Op::Cos, angle);
  Term power = column * cosine;
  Term values = exp(scaled ? power - abs(column) : power);
  if (first_order) values = values * cosine;
  if (f.failed()) return f.result(values);
  return f.result(f.node(graph::mean(g, values.value.node, {rank}, false)));
}

Result<Value> heaviside(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  Term values = f.tensor("values");
  if (f.failed()) return f.result(x);
  if (f.dtype(x) != f.dtype(values)) {
    return input_error("heaviside is not yet implemented for tensors with different dtypes.");
  }
  const DType type = f.dtype(x);
  return f.result(where(x == 0, values, cast(x > 0, type)), type);
}

// Rounds to whole steps of `scale` around `zero`, and converts back.
Term quantised(const Term& x, const Term& scale, const Term& zero, double low, double high) {
  Term steps = round(x * (1.0 / scale)) + zero;
  return (clamp(steps, low, high) - zero) * scale;
}

Result<Value> fake_quantize(Call& call) {
  Formula f(call);
  Term x = f.floating("input");
  Term scale = f.operand("scale");
  Term zero = f.operand("zero_point");
  double low = f.number("quant_min"), high = f.number("quant_max");
  if (f.failed()) return f.result(x);
  if (low > high) return input_error("`quant_min` should be less than or equal to `quant_max`.");
  const DType work = graph::opmath(f.dtype(x));
  return f.result(quantised(wide(x), f.converted(scale, work), f.converted(zero, work), low, high),
                  f.dtype(x));
}

Result<Value> fake_quantize_channels(Call& call) {
  Formula f(call);
  Term x = f.floating("input");
  Term scale = f.tensor("scale");
  Term zero = f.tensor("zero_point");
  double low = f.number("quant_min"), high = f.number("quant_max");
  if (f.failed()) return f.result(x);
  const int axis = KW_TRY(call.dim("axis", x.value.node));
  if (f.rank(x) == 0) return input_error("`axis` must be between 0 and number of dimensions");
  graph::Builder& g = call.graph();
  graph::Shape shape(static_cast<size_t>(f.rank(x)), Dim(1));
  shape[static_cast<size_t>(axis)] = g.extent(x.value.node, axis);
  const DType work = graph::opmath(f.dtype(x));
  Term scales = cast(f.node(g.reshape(scale.value.node, shape)), work);
  Term zeros = cast(f.node(g.reshape(zero.value.node, shape)), work);
  return f.result(quantised(wide(x), scales, zeros, low, high), f.dtype(x));
}

constexpr char kQuantize[] = "input, scale, zero_point, quant_min, quant_max";

constexpr OpRow kSpecialRows[] = {
    {"torch.i0 Tensor.i0 torch.special.i0", "input",
     [](Call& call) { return bessel(call, false, false); }},
    {"torch.special.i0e", "input", [](Call& call) { return bessel(call, false, true); }},
    {"torch.special.i1", "input", [](Call& call) { return bessel(call, true, false); }},
    {"torch.special.i1e", "input", [](Call& call) { return bessel(call, true, true); }},
    {"torch.heaviside Tensor.heaviside", "input, values", heaviside},
    {"torch.fake_quantize_per_tensor_affine", kQuantize, fake_quantize},
    {"torch.fake_quantize_per_channel_affine",
     "input, scale, zero_point, axis, quant_min, quant_max", fake_quantize_channels},
};

}  // namespace

std::span<const OpRow> special_rows() { return kSpecialRows; }

}  // namespace kw::frontend
