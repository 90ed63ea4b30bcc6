// Reductions over any dims, and the softmax family. The formulas are in graph/compose_reduce.h and
// compose_norm.h; this file reads the arguments. The difficulty is overloads: torch.max(x),
// torch.max(x, dim) and torch.max(x, other) are three functions, and var() takes `unbiased` in the
// place of `dim`. One row serves all forms and decides by the type of the argument, because a
// signature is one text. The alternative, a row per overload, would need a choice before binding.
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_norm.h"
#include "graph/compose_reduce.h"

namespace kw::frontend {
namespace {

using graph::NodeId;
using graph::Op;
using tensor::DType;

using Summing = Result<NodeId> (*)(graph::Builder&, NodeId, const graph::Dims&, bool,
                                   graph::MaybeType);
template <Summing reduce>
Result<Value> summing(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  std::vector<int> dims = KW_TRY(reduced_dims(call, x));
  bool keepdim = KW_TRY(call.boolean("keepdim"));
  std::optional<DType> dtype = KW_TRY(call.dtype("dtype"));
  return tensor_value(KW_TRY(reduce(call.graph(), x, dims, keepdim, dtype)));
}

using Choosing = Result<NodeId> (*)(graph::Builder&, NodeId, const graph::Dims&, bool);
template <Choosing reduce>
Result<Value> choosing(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  std::vector<int> dims = KW_TRY(reduced_dims(call, x));
  bool keepdim = KW_TRY(call.boolean("keepdim"));
  return tensor_value(KW_TRY(reduce(call.graph(), x, dims, keepdim)));
}

Error nothing_to_reduce(const Call& call) {
  return input_error(
      "{}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
      "dim with the 'dim' argument.",
      call.function());
}

bool is_empty(Call& call, NodeId x) { return graph::count_of(call.graph()[x].shape).value() == 0; }

// torch.max(x), torch.max(x, dim) and torch.max(x, other) are three functions with one name.
using Along = Result<graph::ValueIndex> (*)(graph::Builder&, NodeId, int, bool);
template <Choosing of_all, Along along, Op of_two>
Result<Value> extremum(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  graph::Builder& g = call.graph();
  const Value& second = call.given("other") ? call["other"] : call["dim"];
  if (const auto* other = second.get<Tensor>()) {
    return tensor_value(
        KW_TRY(g.binary(of_two, graph::Operand::tensor(x), graph::Operand::tensor(other->node))));
  }
  bool keepdim = KW_TRY(call.boolean("keepdim"));
  if (!call.given("dim")) {
    if (is_empty(call, x)) return nothing_to_reduce(call);
    return tensor_value(KW_TRY(of_all(g, x, {}, false)));
  }
  int dim = KW_TRY(call.dim("dim", x));
  graph::ValueIndex both = KW_TRY(along(g, x, dim, keepdim));
  return values_and_indices(both.value, both.index);
}

using Arg = Result<NodeId> (*)(graph::Builder&, NodeId, std::optional<int>, bool);
template <Arg reduce>
Result<Value> arg_extremum(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  bool keepdim = KW_TRY(call.boolean("keepdim"));
  std::optional<int> dim;
  if (call.given("dim")) dim = KW_TRY(call.dim("dim", x));
  if (!dim && is_empty(call, x)) return nothing_to_reduce(call);
  return tensor_value(KW_TRY(reduce(call.graph(), x, dim, keepdim)));
}

Result<Value> aminmax(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  std::vector<int> dims = KW_TRY(reduced_dims(call, x));
  bool keepdim = KW_TRY(call.boolean("keepdim"));
  NodeId low = KW_TRY(graph::amin(call.graph(), x, dims, keepdim));
  NodeId high = KW_TRY(graph::amax(call.graph(), x, dims, keepdim));
  return tensor_tuple({low, high}, {"min", "max"});
}

Result<Value> count_nonzero(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  std::vector<int> dims = KW_TRY(reduced_dims(call, x));
  return tensor_value(KW_TRY(graph::count_nonzero(call.graph(), x, dims)));
}

// var(x), var(x, unbiased), var(x, dim, unbiased, keepdim) and var(x, dim, correction=…).
struct Spread {
  NodeId x = -1;
  std::vector<int> dims;
  double correction = 1;
  bool keepdim = false;
};

Result<Spread> spread_of(Call& call) {
  Spread spread;
  spread.x = KW_TRY(call.tensor("input"));
  if (is_integral(call.graph()[spread.x].dtype)) {
    return input_error("{}: only support floating point dtypes", call.function());
  }
  if (const auto* unbiased = call["dim"].get<bool>()) {
    spread.correction = *unbiased ? 1 : 0;
  } else {
    spread.dims = KW_TRY(reduced_dims(call, spread.x));
  }
  spread.keepdim = KW_TRY(call.boolean("keepdim"));
  if (call.given("unbiased") && call.given("correction")) {
    return input_error("{}() takes either unbiased or correction", call.function());
  }
  if (call.given("unbiased")) {
    bool unbiased = KW_TRY(call.boolean("unbiased"));
    spread.correction = unbiased ? 1 : 0;
  }
  if (call.given("correction")) spread.correction = KW_TRY(call.number("correction"));
  return spread;
}

Result<Value> var(Call& call) {
  Spread s = KW_TRY(spread_of(call));
  return tensor_value(KW_TRY(graph::var(call.graph(), s.x, s.dims, s.correction, s.keepdim)));
}

Result<Value> standard_deviation(Call& call) {
  Spread s = KW_TRY(spread_of(call));
  return tensor_value(
      KW_TRY(graph::standard_deviation(call.graph(), s.x, s.dims, s.correction, s.keepdim)));
}

Result<Value> var_mean(Call& call) {
  Spread s = KW_TRY(spread_of(call));
  graph::Moments both = KW_TRY(graph::var_mean(call.graph(), s.x, s.dims, s.correction, s.keepdim));
  return tensor_tuple({both.spread, both.mean});
}

Result<Value> std_mean(Call& call) {
  Spread s = KW_TRY(spread_of(call));
  graph::Moments both = KW_TRY(graph::std_mean(call.graph(), s.x, s.dims, s.correction, s.keepdim));
  return tensor_tuple({both.spread, both.mean});
}

Result<Value> p_norm(Call& call, double p) {
  NodeId x = KW_TRY(call.tensor("input"));
  std::vector<int> dims = KW_TRY(reduced_dims(call, x));
  bool keepdim = KW_TRY(call.boolean("keepdim"));
  std::optional<DType> dtype = KW_TRY(call.dtype("dtype"));
  return tensor_value(KW_TRY(graph::vector_norm(call.graph(), x, p, dims, keepdim, dtype)));
}

Result<Value> vector_norm(Call& call) {
  double order = KW_TRY(call.number("ord"));
  return p_norm(call, order);
}

// F.softmax without a dim chooses one by rank; old networks rely on that.
Result<int> softmax_dim(Call& call, NodeId x) {
  if (call.given("dim")) return call.dim("dim", x);
  const int rank = call.graph().rank(x);
  return call.graph().wrap_dim(rank == 0 || rank == 1 || rank == 3 ? 0 : 1, x);
}

using Softmax = Result<NodeId> (*)(graph::Builder&, NodeId, int, graph::MaybeType);
template <Softmax function, bool negated>
Result<Value> softmax(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(softmax_dim(call, x));
  std::optional<DType> dtype = KW_TRY(call.dtype("dtype"));
  const DType type = dtype.value_or(call.graph()[x].dtype);
  if (is_integral(type)) return not_implemented(call, type);
  if (negated) x = KW_TRY(call.graph().unary(Op::Neg, x));
  return tensor_value(KW_TRY(function(call.graph(), x, dim, dtype)));
}

constexpr char kSumming[] = "input, dim=None, keepdim=False, *, dtype=None";
constexpr char kChoosing[] = "input, dim=None, keepdim=False";
constexpr char kSpread[] = "input, dim=None, unbiased=None, keepdim=False, *, correction=None";
constexpr char kExtremum[] = "input, dim=None, keepdim=False, *, other=None";

constexpr OpRow kReductionRows[] = {
    {"torch.sum Tensor.sum", kSumming, summing<graph::sum>},
    {"torch.mean Tensor.mean", kSumming, summing<graph::mean>},
    {"torch.prod Tensor.prod", kSumming, summing<graph::prod>},
    {"torch.nansum Tensor.nansum", kSumming, summing<graph::nansum>},
    {"torch.nanmean Tensor.nanmean", kSumming, summing<graph::nanmean>},
    {"torch.amax Tensor.amax", "input, dim=(), keepdim=False", choosing<graph::amax>},
    {"torch.amin Tensor.amin", "input, dim=(), keepdim=False", choosing<graph::amin>},
    {"torch.any Tensor.any", kChoosing, choosing<graph::any>},
    {"torch.all Tensor.all", kChoosing, choosing<graph::all>},
    {"torch.logsumexp Tensor.logsumexp torch.special.logsumexp", "input, dim, keepdim=False",
     choosing<graph::logsumexp>},
    {"torch.aminmax Tensor.aminmax", "input, *, dim=None, keepdim=False", aminmax},
    {"torch.max Tensor.max", kExtremum, extremum<graph::amax, graph::max_along, Op::Maximum>},
    {"torch.min Tensor.min", kExtremum, extremum<graph::amin, graph::min_along, Op::Minimum>},
    {"torch.argmax Tensor.argmax", kChoosing, arg_extremum<graph::argmax>},
    {"torch.argmin Tensor.argmin", kChoosing, arg_extremum<graph::argmin>},
    {"torch.count_nonzero Tensor.count_nonzero", "input, dim=None", count_nonzero},
    {"torch.var Tensor.var", kSpread, var},
    {"torch.std Tensor.std", kSpread, standard_deviation},
    {"torch.var_mean", kSpread, var_mean},
    {"torch.std_mean", kSpread, std_mean},
    {"torch.linalg.vector_norm", "input, ord=2, dim=None, keepdim=False, *, dtype=None",
     vector_norm},
    {"torch.softmax Tensor.softmax torch.special.softmax", "input, dim, dtype=None",
     softmax<graph::softmax, false>},
    {"F.softmax", "input, dim=None, _stacklevel=3, dtype=None", softmax<graph::softmax, false>},
    {"F.softmin", "input, dim=None, _stacklevel=3, dtype=None", softmax<graph::softmax, true>},
    {"torch.log_softmax Tensor.log_softmax torch.special.log_softmax", "input, dim, dtype=None",
     softmax<graph::log_softmax, false>},
    {"F.log_softmax", "input, dim=None, _stacklevel=3, dtype=None",
     softmax<graph::log_softmax, false>},
};

}  // namespace

std::span<const OpRow> reduction_rows() { return kReductionRows; }

}  // namespace kw::frontend
