// The activation functions of torch.nn.functional. Each uses the formula of PyTorch's kernel, not
// the shortest one: results for NaN, infinities and at breakpoints must agree. Formulas compute in
// the wide type and round once, as the kernels do. Those that PyTorch writes in Python round after
// every step, so they do here, too. The alternative, one graph operator per activation, would need
// a rule in every later stage. The cost is a few more nodes per call. Random forms (rrelu in
// training) are refused.
#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;
using graph::Op;
using tensor::DType;

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

// relu and clamps also take integers.
Result<Value> clamp_between(Call& call, double low, double high) {
  Formula f(call);
  Term x = f.tensor("input");
  if (!f.failed() && f.dtype(x) == DType::Bool) {
    return input_error(fmt::format("\"{}\" not implemented for 'Bool'", call.function()));
  }
  bool whole = !f.failed() && is_integral(f.dtype(x));
  auto bound = [&](double value) { return whole ? Term(static_cast<int>(value)) : Term(value); };
  x = maximum(x, bound(low));
  if (!std::isinf(high)) x = minimum(x, bound(high));
  return f.result(x);
}

Result<Value> relu(Call& call) { return clamp_between(call, 0, INFINITY); }
Result<Value> relu6(Call& call) { return clamp_between(call, 0, 6); }

Result<Value> hardtanh(Call& call) {
  Formula f(call);
  double low = f.number("min_val"), high = f.number("max_val");
  if (f.failed()) return f.result(f.tensor("input"));
  Term x = f.tensor("input");
  if (!f.failed() && tensor::is_unsigned_int(f.dtype(x)) && low < 0) {
    return input_error("cannot do hardtanh on an unsigned type with negative limits");
  }
  if (low > high) {
    return input_error("hardtanh(): min_val cannot be greater than max_val");
  }
  return clamp_between(call, low, high);
}

Result<Value> threshold(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  Term limit = f.operand("threshold");
  Term value = f.operand("value");
  if (f.failed()) return f.result(x);
  const DType type = f.dtype(x);
  if (type == DType::Bool) return not_implemented(call, type);
  return f.result(where(x <= limit, value, x), type);
}

Term exponential_unit(const Term& x, double alpha, double scale, double inner) {
  Term below = expm1(inner == 1 ? x : x * inner) * (alpha * scale);
  return where(x <= 0, below, scale == 1 ? x : x * scale);
}

Result<Value> elu(Call& call) {
  return activation(
      call, [](Term x, Formula& f) { return exponential_unit(x, f.number("alpha"), 1, 1); });
}

Result<Value> general_elu(Call& call) {
  return activation(call, [](Term x, Formula& f) {
    return exponential_unit(x, f.number("alpha"), f.number("scale"), f.number("input_scale"));
  });
}

Result<Value> selu(Call& call) {
  return activation(
      call, [](Term x, Formula&) { return exponential_unit(x, kSeluAlpha, kSeluScale, 1); });
}

Result<Value> celu(Call& call) {
  return activation(call, [](Term x, Formula& f) {
    double alpha = f.number("alpha");
    if (alpha == 0) return f.fail(input_error("ZeroDivisionError: alpha cannot be 0 for CELU"));
    return exponential_unit(x, alpha, 1, 1 / alpha);
  });
}

Result<Value> leaky_relu(Call& call) {
  return activation(
      call, [](Term x, Formula& f) { return where(x > 0, x, x * f.number("negative_slope")); });
}

// Outside of training the slope is the middle of its range.
Result<Value> rrelu(Call& call) {
  return activation(call, [](Term x, Formula& f) {
    if (f.boolean("training")) {
      return f.fail(
          input_error("rrelu(training=True) draws its slopes at random: only "
                      "training=False (the default) has one right answer"));
    }
    return where(x > 0, x, x * ((f.number("lower") + f.number("upper")) / 2));
  });
}

Result<Value> prelu(Call& call) {
  Formula f(call);
  Term x = f.floating("input");
  Term weight = f.floating("weight");
  if (f.failed()) return f.result(x);
  graph::Builder& g = f.graph();
  const Dim count = graph::count_of(g[weight.value.node].shape);
  if (f.rank(weight) > 1) {
    return input_error(
        fmt::format("prelu: Expected `weight` to be a scalar or 1D tensor, but got: "
                    "ndim = {}",
                    f.rank(weight)));
  }
  graph::Shape shape(static_cast<size_t>(f.rank(x)), Dim(1));
  if (count.value() != 1) {
    const graph::Shape& input = g[x.value.node].shape;
    const int64_t channels = input.size() >= 2 ? input[1].value() : 1;
    if (count.value() != channels) {
      return input_error(
          fmt::format("Mismatch of parameter numbers and input channel size. Found "
                      "parameter numbers = {} and channel size = {}.",
                      count.value(), channels));
    }
    shape[1] = input[1];
  }
  Term slope = f.node(g.reshape(weight.value.node, shape));
  return f.result(where(x > 0, wide(x), wide(slope) * wide(x)), f.dtype(x));
}

Result<Value> gelu(Call& call) {
  auto approximate = call.text("approximate");
  if (!approximate) return std::move(approximate).error();
  if (*approximate == "none") {
    return activation(
        call, [](Term x, Formula&) { return x * 0.5 * (1 + erf(x * (std::numbers::sqrt2 / 2))); });
  }
  if (*approximate != "tanh") {
    return input_error("approximate argument must be either none or tanh.");
  }
  return activation(call, [](Term x, Formula&) {
    const double beta = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    Term inner = (x + x * x * x * 0.044715) * beta;
    return x * 0.5 * (1 + tanh(inner));
  });
}

Result<Value> softplus(Call& call) {
  return activation(call, [](Term x, Formula& f) {
    double beta = f.number("beta");
    Term scaled = beta == 1 ? x : x * beta;
    Term soft = log1p(exp(scaled));
    return where(scaled > f.number("threshold"), x, beta == 1 ? soft : soft / beta);
  });
}

Result<Value> hardshrink(Call& call) {
  return activation(call, [](Term x, Formula& f) {
    double limit = f.number("lambd");
    return where((x >= -limit) & (x <= limit), 0.0, x);
  });
}

Result<Value> softshrink(Call& call) {
  return activation(call, [](Term x, Formula& f) {
    double limit = f.number("lambd");
    if (limit < 0) {
      return f.fail(input_error(
          fmt::format("lambda must be greater or equal to 0, but found to be {}", limit)));
    }
    return where(x > limit, x - limit, where(x < -limit, x + limit, x * 0.0));
  });
}

Result<Value> silu(Call& call) {
  return activation(call, [](Term x, Formula&) { return x * sigmoid(x); });
}

Result<Value> mish(Call& call) {
  return activation(call, [](Term x, Formula&) { return x * tanh(log1p(exp(x))); });
}

Result<Value> hardsigmoid(Call& call) {
  return activation(call, [](Term x, Formula&) { return clamp(x + 3.0, 0.0, 6.0) / 6.0; });
}

Result<Value> hardswish(Call& call) {
  return activation(call, [](Term x, Formula&) { return x * clamp(x + 3.0, 0.0, 6.0) / 6.0; });
}

Result<Value> logsigmoid(Call& call) {
  return activation(call, [](Term x, Formula&) { return minimum(x, 0.0) - log1p(exp(-abs(x))); });
}

// PyTorch writes these two in Python, so every step rounds to the tensor's dtype.
Result<Value> softsign(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  return f.result(x / (abs(x) + 1));
}

Result<Value> tanhshrink(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  return f.result(x - tanh(x));
}

Result<Value> glu(Call& call) {
  Formula f(call);
  Term x = f.floating("input");
  if (f.failed()) return f.result(x);
  graph::Builder& g = f.graph();
  if (f.rank(x) == 0) return input_error("glu does not support 0-dimensional tensors");
  int dim = KW_TRY(call.dim("dim", x.value.node));
  const Dim extent = g[x.value.node].shape[static_cast<size_t>(dim)];
  KW_TRY(need_multiple(g, extent, 2,
                       fmt::format("Halving dimension must be even, but dimension {} is size {}",
                                   dim, extent.value())));
  const Dim half = floor_div(extent, Dim(2));
  Term a = f.node(g.slice(x.value.node, dim, Dim(0), half, 1));
  Term b = f.node(g.slice(x.value.node, dim, half, half + half, 1));
  return f.result(wide(a) * sigmoid(wide(b)), f.dtype(x));
}

constexpr OpRow kActivationRows[] = {
    {"F.relu", "input, inplace=False", relu},
    {"torch.relu Tensor.relu", "input", relu},
    {"F.relu6", "input, inplace=False", relu6},
    {"F.hardtanh", "input, min_val=-1.0, max_val=1.0, inplace=False", hardtanh},
    {"F.threshold torch.threshold", "input, threshold, value, inplace=False", threshold},
    {"F.elu", "input, alpha=1.0, inplace=False", elu},
    {"aten.elu", "input, alpha=1, scale=1, input_scale=1", general_elu},
    {"torch.selu", "input", selu},
    {"F.selu", "input, inplace=False", selu},
    {"F.celu torch.celu", "input, alpha=1.0, inplace=False", celu},
    {"F.leaky_relu", "input, negative_slope=0.01, inplace=False", leaky_relu},
    {"F.rrelu torch.rrelu",
     "input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False", rrelu},
    {"F.prelu torch.prelu Tensor.prelu", "input, weight", prelu},
    {"F.gelu", "input, *, approximate='none'", gelu},
    {"F.silu", "input, inplace=False", silu},
    {"F.mish", "input, inplace=False", mish},
    {"F.hardsigmoid", "input, inplace=False", hardsigmoid},
    {"F.hardswish", "input, inplace=False", hardswish},
    {"F.logsigmoid", "input", logsigmoid},
    {"F.softplus", "input, beta=1.0, threshold=20.0", softplus},
    {"F.softsign", "input", softsign},
    {"F.tanhshrink", "input", tanhshrink},
    {"F.hardshrink torch.hardshrink Tensor.hardshrink", "input, lambd=0.5", hardshrink},
    {"F.softshrink", "input, lambd=0.5", softshrink},
    {"F.glu", "input, dim=-1", glu},
};

}  // namespace

std::span<const OpRow> activation_rows() { return kActivationRows; }

}  // namespace kw::frontend
