// Pooling over windows, over bins, and by norms. graph/compose_pool.h builds each pool from windows
// and a reduction, for any rank. This file reads the arguments: the stride is the kernel size
// unless given, and None in output_size keeps an extent. One template per function serves ranks 1
// to 3; a function per rank would repeat the same lines. Forms that return indices are rows of
// their own, because ATen names them so. lp_pool follows PyTorch's Python code, which rounds at
// every step.
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_pool.h"

namespace kw::frontend {
namespace {

using graph::NodeId;

// The stride is the kernel size unless it is given.
Result<graph::Pool> read_pool(Call& call, size_t n, bool dilates) {
  graph::Pool pool;
  pool.kernel = KW_TRY(per_dim(call, "kernel_size", n));
  const std::vector<Value>* listed = items_of(call["stride"]);
  const bool apart = call.given("stride") && !(listed && listed->empty());
  pool.stride = apart ? KW_TRY(per_dim(call, "stride", n)) : pool.kernel;
  pool.padding = KW_TRY(per_dim(call, "padding", n));
  pool.dilation.assign(n, 1);
  if (dilates) pool.dilation = KW_TRY(per_dim(call, "dilation", n));
  pool.ceil = KW_TRY(call.boolean("ceil_mode"));
  return pool;
}

template <size_t N>
Result<Value> max_pool_pair(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  const graph::Pool pool = KW_TRY(read_pool(call, N, true));
  const graph::ValueIndex both = KW_TRY(graph::max_pool_with_index(call.graph(), x, pool));
  return tensor_tuple({both.value, both.index});
}

template <size_t N>
Result<Value> max_pool(Call& call) {
  const bool indices = KW_TRY(call.boolean("return_indices"));
  if (indices) return max_pool_pair<N>(call);
  NodeId x = KW_TRY(call.tensor("input"));
  const graph::Pool pool = KW_TRY(read_pool(call, N, true));
  return tensor_value(KW_TRY(graph::max_pool(call.graph(), x, pool)));
}

template <size_t N>
Result<Value> avg_pool(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  const graph::Pool pool = KW_TRY(read_pool(call, N, false));
  graph::Average average;
  average.count_padding = KW_TRY(call.boolean("count_include_pad"));
  if (N > 1 && call.given("divisor_override"))
    average.divisor = KW_TRY(call.integer("divisor_override"));
  return tensor_value(KW_TRY(graph::avg_pool(call.graph(), x, pool, average)));
}

// One number, or one per dim; None keeps the extent.
Result<graph::BinCounts> bin_counts(Call& call, size_t n) {
  const Value& value = call["output_size"];
  const std::vector<Value>* items = items_of(value);
  graph::BinCounts counts;
  if (!items) {
    const graph::Dim one = KW_TRY(call.dim_value("output_size"));
    return graph::BinCounts(n, one);
  }
  for (const Value& item : *items) {
    const auto* count = item.get<graph::Dim>();
    if (!count && !item.is_none()) {
      return input_error("{}(): argument 'output_size' must be ints or None", call.function());
    }
    counts.push_back(count ? std::optional(*count) : std::nullopt);
  }
  if (counts.size() == 1 && n > 1) counts.resize(n, counts[0]);
  if (counts.size() != n) {
    return input_error("{}: output_size must be {}", call.function(), n);
  }
  return counts;
}

template <size_t N>
Result<Value> adaptive_avg(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  const graph::BinCounts sizes = KW_TRY(bin_counts(call, N));
  return tensor_value(KW_TRY(graph::adaptive_avg_pool(call.graph(), x, sizes)));
}

template <size_t N>
Result<Value> adaptive_max_pair(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  const graph::BinCounts sizes = KW_TRY(bin_counts(call, N));
  const graph::ValueIndex both =
      KW_TRY(graph::adaptive_max_pool_with_index(call.graph(), x, sizes));
  return tensor_tuple({both.value, both.index});
}

template <size_t N>
Result<Value> adaptive_max(Call& call) {
  const bool indices = KW_TRY(call.boolean("return_indices"));
  if (indices) return adaptive_max_pair<N>(call);
  NodeId x = KW_TRY(call.tensor("input"));
  const graph::BinCounts sizes = KW_TRY(bin_counts(call, N));
  return tensor_value(KW_TRY(graph::adaptive_max_pool(call.graph(), x, sizes)));
}

// PyTorch writes this in Python, so every step rounds.
template <size_t N>
Result<Value> lp_pool(Call& call) {
  Formula f(call);
  Term x = f.floating("input");
  const double norm = f.number("norm_type");
  if (f.failed()) return f.result(x);
  if (norm == 0) return input_error("ZeroDivisionError: lp_pool() with norm_type 0");
  const graph::Pool pool = KW_TRY(read_pool(call, N, false));
  const NodeId powers = KW_TRY(f.done(pow(x, norm)));
  Term mean = f.node(graph::avg_pool(call.graph(), powers, pool, {}));
  double size = 1;
  for (const int64_t one : pool.kernel) size *= static_cast<double>(one);
  Term total = apply(graph::Op::Sign, mean) * maximum(abs(mean), 0) * size;
  return f.result(pow(total, 1 / norm));
}

constexpr char kMaxPool[] =
    "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, "
    "return_indices=False";
constexpr char kAvgPool1[] =
    "input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True";
constexpr char kAvgPool[] =
    "input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, "
    "divisor_override=None";
constexpr char kAdaptive[] = "input, output_size";
constexpr char kAdaptiveMax[] = "input, output_size, return_indices=False";
constexpr char kLpPool[] = "input, norm_type, kernel_size, stride=None, ceil_mode=False, padding=0";

constexpr OpRow kPoolRows[] = {
    {"F.max_pool1d torch.max_pool1d", kMaxPool, max_pool<1>},
    {"F.max_pool2d torch.max_pool2d", kMaxPool, max_pool<2>},
    {"F.max_pool3d torch.max_pool3d", kMaxPool, max_pool<3>},
    {"F.max_pool1d_with_indices torch.max_pool1d_with_indices", kMaxPool, max_pool_pair<1>},
    {"F.max_pool2d_with_indices", kMaxPool, max_pool_pair<2>},
    {"F.max_pool3d_with_indices", kMaxPool, max_pool_pair<3>},
    {"F.avg_pool1d torch.avg_pool1d", kAvgPool1, avg_pool<1>},
    {"F.avg_pool2d", kAvgPool, avg_pool<2>},
    {"F.avg_pool3d", kAvgPool, avg_pool<3>},
    {"F.adaptive_avg_pool1d torch.adaptive_avg_pool1d", kAdaptive, adaptive_avg<1>},
    {"F.adaptive_avg_pool2d", kAdaptive, adaptive_avg<2>},
    {"F.adaptive_avg_pool3d", kAdaptive, adaptive_avg<3>},
    {"F.adaptive_max_pool1d", kAdaptiveMax, adaptive_max<1>},
    {"F.adaptive_max_pool2d", kAdaptiveMax, adaptive_max<2>},
    {"F.adaptive_max_pool3d", kAdaptiveMax, adaptive_max<3>},
    {"F.adaptive_max_pool1d_with_indices torch.adaptive_max_pool1d", kAdaptiveMax,
     adaptive_max_pair<1>},
    {"F.adaptive_max_pool2d_with_indices", kAdaptiveMax, adaptive_max_pair<2>},
    {"F.adaptive_max_pool3d_with_indices", kAdaptiveMax, adaptive_max_pair<3>},
    {"F.lp_pool1d", kLpPool, lp_pool<1>},
    {"F.lp_pool2d", kLpPool, lp_pool<2>},
    {"F.lp_pool3d", kLpPool, lp_pool<3>},
};

}  // namespace

std::span<const OpRow> pool_rows() { return kPoolRows; }

}  // namespace kw::frontend
