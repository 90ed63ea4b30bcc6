// Tensors with random values. In get_inputs() they are inputs of the task; while a module is
// constructed they are weights. Inside the reference they are refused, because two runs would
// differ. The alternative, to use torch's generator and its seed, would give fixed values; the
// judge needs many. So a draw gives only a shape, a dtype and the legal values: rand() is within
// [0, 1], randint() is below `high`. Distributions without such a rule (multinomial, poisson) are
// refused.
#include "frontend/tensors.h"

#include <fmt/core.h>

#include <cmath>

#include "frontend/call.h"
#include "frontend/cell.h"
#include "frontend/legal.h"
#include "frontend/numbers.h"

namespace kw::frontend {
namespace {

using tensor::DType;

struct Draw {
  graph::Shape shape;
  DType dtype = DType::Fp32;
  task::Legal legal;
};

constexpr const char* kSized = "*size, dtype=None, generator=None";
constexpr const char* kSizedLike = "input, *, dtype=None";

Result<Draw> draw_sized(Call& call, const std::string& name, DType fallback) {
  Draw draw;
  draw.shape = KW_TRY(call.sizes("size"));
  draw.dtype = KW_TRY(call.dtype("dtype")).value_or(fallback);
  if (name == "torch.rand") draw.legal.float_low = 0, draw.legal.float_high = 1;
  return draw;
}

Result<Draw> draw_like(Call& call, const std::string& name) {
  const graph::NodeId input = KW_TRY(call.tensor("input"));
  Draw draw;
  draw.shape = call.graph()[input].shape;
  draw.dtype = KW_TRY(call.dtype("dtype")).value_or(call.graph()[input].dtype);
  if (name == "torch.rand_like") draw.legal.float_low = 0, draw.legal.float_high = 1;
  return draw;
}

/// Reads randint(high, size) or randint(low, high, size).
Result<Draw> draw_integers(graph::Builder& graph, Arguments arguments, bool like) {
  std::vector<Value>& given = arguments.positional;
  const size_t first = like ? 1 : 0;
  size_t ints = 0;
  while (first + ints < given.size() && as_dim(given[first + ints])) ++ints;
  if (ints == 1) given.insert(given.begin() + static_cast<std::ptrdiff_t>(first), graph::Dim(0));
  Call call = KW_TRY(Call::bind(graph, like ? "torch.randint_like" : "torch.randint",
                                like ? "input, low=0, high=None, *, dtype=None"
                                     : "low=0, high=None, size=None, *, dtype=None, generator=None",
                                given, arguments.keywords));
  const graph::Dim low = KW_TRY(call.dim_value("low"));
  const graph::Dim high = KW_TRY(call.dim_value("high"));
  if (high.value() <= low.value())
    return input_error("random_ expects 'from' to be less than 'to', but got from={} >= to={}",
                       low.value(), high.value());
  Draw draw;
  if (like) {
    draw = KW_TRY(draw_like(call, ""));
  } else {
    draw.shape = KW_TRY(call.sizes("size"));
    draw.dtype = KW_TRY(call.dtype("dtype")).value_or(DType::Int64);
  }
  if (tensor::is_float(draw.dtype)) {
    draw.legal.float_low = static_cast<double>(low.value());
    draw.legal.float_high = static_cast<double>(high.value() - 1);
    return draw;
  }
  draw.legal.low = low.value();
  set_below(draw.legal, high);
  return draw;
}

Result<Draw> draw_permutation(graph::Builder& graph, Arguments arguments) {
  Call call = KW_TRY(Call::bind(graph, "torch.randperm", "n, *, dtype=None, generator=None",
                                arguments.positional, arguments.keywords));
  const graph::Dim count = KW_TRY(call.dim_value("n"));
  if (count.value() < 1) return input_error("randperm() needs at least 1 element");
  Draw draw;
  draw.shape = {count};
  draw.dtype = KW_TRY(call.dtype("dtype")).value_or(DType::Int64);
  draw.legal.permutation = true;
  draw.legal.low = 0;
  set_below(draw.legal, count);
  return draw;
}

/// Methods that fill a tensor, and functions that draw one value per element of a tensor.
Result<Draw> draw_filled(graph::Builder& graph, const std::string& name, Arguments arguments) {
  Call call = KW_TRY(Call::bind(graph, name, "input, a=None, b=None, *, p=None, generator=None",
                                arguments.positional, arguments.keywords));
  Draw draw;
  const graph::NodeId input = KW_TRY(call.tensor("input"));
  draw.shape = graph[input].shape;
  draw.dtype = graph[input].dtype;
  if (name == "Tensor.uniform_") {
    draw.legal.float_low = call.given("a") ? KW_TRY(call.number("a")) : 0.0;
    draw.legal.float_high = call.given("b") ? KW_TRY(call.number("b")) : 1.0;
    if (!(*draw.legal.float_low <= *draw.legal.float_high) ||
        !std::isfinite(*draw.legal.float_high - *draw.legal.float_low))
      return input_error("uniform_ expects to return a [from, to) range, but found from={} > to={}",
                         *draw.legal.float_low, *draw.legal.float_high);
  } else if (name.find("bernoulli") != std::string::npos) {
    draw.legal.float_low = 0, draw.legal.float_high = 1;
    draw.legal.low = 0, draw.legal.high = 1;
  } else if (name == "Tensor.exponential_" || name == "Tensor.log_normal_") {
    draw.legal.positive = true;
  }
  return draw;
}

Result<Draw> draw_normal(graph::Builder& graph, Arguments arguments, DType fallback) {
  Call call = KW_TRY(Call::bind(graph, "torch.normal",
                                "mean=0.0, std=1.0, size=None, *, dtype=None, generator=None",
                                arguments.positional, arguments.keywords));
  Draw draw;
  for (const char* name : {"mean", "std"}) {
    if (const auto* tensor = call[name].get<Tensor>()) draw.shape = graph[tensor->node].shape;
  }
  if (call.given("size")) draw.shape = KW_TRY(call.sizes("size"));
  draw.dtype = KW_TRY(call.dtype("dtype")).value_or(fallback);
  return draw;
}

Result<Draw> draw_any(graph::Builder& graph, const std::string& name, Arguments arguments,
                      DType fallback) {
  if (name == "torch.randint" || name == "torch.randint_like")
    return draw_integers(graph, std::move(arguments), name == "torch.randint_like");
  if (name == "torch.randperm") return draw_permutation(graph, std::move(arguments));
  if (name == "torch.normal") return draw_normal(graph, std::move(arguments), fallback);
  if (name == "torch.multinomial" || name == "Tensor.multinomial" || name == "torch.poisson" ||
      name == "Tensor.random_" || name == "Tensor.geometric_" || name == "Tensor.cauchy_")
    return input_error("{} is not supported\ntorch.randn, rand and randint are", name);
  const bool sized = name == "torch.randn" || name == "torch.rand";
  const bool like = name.ends_with("_like");
  if (!sized && !like) return draw_filled(graph, name, std::move(arguments));
  Call call = KW_TRY(Call::bind(graph, name, sized ? kSized : kSizedLike,
                                std::move(arguments.positional), std::move(arguments.keywords)));
  return sized ? draw_sized(call, name, fallback) : draw_like(call, name);
}

}  // namespace

Result<Value> random_tensor(TraceState& trace, const std::string& name, Arguments arguments) {
  if (trace.randomness == Randomness::Refused)
    return input_error(
        "{} inside the reference: two runs would differ\nmake the random tensor an input", name);
  const Value target = arguments.positional.empty() ? Value() : arguments.positional[0];
  Draw draw = KW_TRY(draw_any(trace.graph, name, std::move(arguments), trace.default_dtype));
  for (const graph::Dim& extent : draw.shape) {
    if (extent.value() < 0) return input_error("{}(): negative dimension {}", name, extent.value());
  }
  const std::string input_name = fmt::format("random {}", trace.drawn.size());
  const graph::NodeId node = trace.graph.input(input_name, draw.dtype, draw.shape);
  KW_TRY(check_size(trace, Value(Tensor(node))));
  trace.drawn.push_back({node, std::move(draw.legal)});
  if (!name.starts_with("Tensor.") || !name.ends_with("_")) return Value(new_tensor(node));
  KW_TRY(store(trace, *target.get<Tensor>(), node, true));
  return target;
}

}  // namespace kw::frontend
