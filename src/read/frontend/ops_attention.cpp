// Attention, and bags of embeddings. Attention is composed from matrix products and a softmax
// (graph/compose_attention.h), not one operator, so that differentiation needs no extra rule. Code
// generation finds the pattern again (generate/attention). Embedding bags have ragged lengths,
// which a graph cannot express. A mask [bags, rows] says which rows are in which bag, and a masked
// reduction adds them. The cost: the graph does work for every pair of bag and row. Dropout and
// max_norm are refused.
#include <fmt/core.h>

#include <cmath>

#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_attention.h"
#include "graph/compose_index.h"
#include "graph/compose_matmul.h"
#include "graph/compose_move.h"
#include "graph/compose_norm.h"
#include "graph/compose_reduce.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;
using graph::Op;
using tensor::DType;

Error random_attention(const Call& call) {
  return input_error(fmt::format(
      "{}() with dropout draws random numbers, so no result is the right one; pass dropout 0, or "
      "call .eval()",
      call.function()));
}

Result<Value> scaled_dot_product_attention(Call& call) {
  const NodeId query = KW_TRY(call.tensor("query"));
  const NodeId key = KW_TRY(call.tensor("key"));
  const NodeId value = KW_TRY(call.tensor("value"));
  graph::Attention how;
  how.mask = KW_TRY(maybe_tensor(call, "attn_mask"));
  how.causal = KW_TRY(call.boolean("is_causal"));
  how.grouped = KW_TRY(call.boolean("enable_gqa"));
  if (call.given("scale")) how.scale = KW_TRY(call.number("scale"));
  const double dropout = KW_TRY(call.number("dropout_p"));
  if (dropout != 0) return random_attention(call);
  return tensor_value(KW_TRY(graph::attention(call.graph(), query, key, value, how)));
}

// The fused forms of ATen: the first result is the output; the others are for the backward pass.
Result<Value> fused_attention(Call& call) {
  const Value out = KW_TRY(scaled_dot_product_attention(call));
  std::vector<Value> results(9);
  results[0] = out;
  return make_tuple(std::move(results));
}

// The rows that were looked up, and which of the N rows are in which of the B bags.
struct Bags {
  NodeId rows = -1;    // [B or 1, N, D]
  NodeId within = -1;  // [B, N, 1], or -1: all of them
};

Result<Bags> read_bags(Call& call) {
  NodeId index = KW_TRY(call.tensor("input"));
  const NodeId weight = KW_TRY(call.tensor("weight"));
  graph::Builder& g = call.graph();
  Bags bags;
  if (g.rank(index) == 2) {
    if (call.given("offsets")) {
      return input_error(
          "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of "
          "fixed length sequences");
    }
    bags.rows = KW_TRY(graph::embedding(g, index, weight));
    return bags;
  }
  if (g.rank(index) != 1) {
    return input_error(
        fmt::format("input has to be a 1D or 2D Tensor, but got Tensor of dimension "
                    "{}",
                    g.rank(index)));
  }
  if (!call.given("offsets")) return input_error("offsets has to be a 1D Tensor but got None");
  NodeId offsets = KW_TRY(call.tensor("offsets"));
  if (g.rank(offsets) != 1) return input_error("offsets has to be a 1D Tensor");
  const bool closed = KW_TRY(call.boolean("include_last_offset"));
  offsets = g.cast(offsets, DType::Int64);
  const Dim count = g.extent(index, 0), ends = g.extent(offsets, 0);
  if (ends.value() < (closed ? 2 : 1)) return input_error("offsets has to name at least one bag");
  Formula f(call);
  const NodeId starts = closed ? KW_TRY(g.slice(offsets, 0, Dim(0), ends - Dim(1))) : offsets;
  const NodeId next = KW_TRY(g.slice(offsets, 0, Dim(1), ends));
  NodeId stops = next;
  if (!closed) {
    const NodeId last = KW_TRY(g.reshape(g.constant_dim(DType::Int64, count), {Dim(1)}));
    stops = KW_TRY(graph::cat(g, {next, last}, 0));
  }
  const Dim bag_count = g.extent(starts, 0);
  const auto column = [&](NodeId x) { return f.node(g.reshape(x, {bag_count, Dim(1), Dim(1)})); };
  const Term place = f.node(g.iota({Dim(1), count, Dim(1)}, 1, DType::Int64));
  bags.within = KW_TRY(f.done((column(starts) <= place) & (place < column(stops))));
  const NodeId rows = KW_TRY(graph::embedding(g, index, weight));
  bags.rows = KW_TRY(graph::unsqueeze(g, rows, 0));
  return bags;
}

// Rows with the index padding_idx are in no bag.
Status leave_padding(Call& call, Bags& bags) {
  if (!call.given("padding_idx")) return Done{};
  graph::Builder& g = call.graph();
  const NodeId index = KW_TRY(call.tensor("input"));
  Dim padding = KW_TRY(call.dim_value("padding_idx"));
  const Dim rows = g.extent(KW_TRY(call.tensor("weight")), 0);
  if (padding.value() < -rows.value() || padding.value() >= rows.value())
    return input_error("padding_idx must be within the number of embeddings");
  if (padding.value() < 0) padding = padding + rows;
  const bool flat = g.rank(index) == 1;
  const graph::Shape shape = {flat ? Dim(1) : g.extent(index, 0), g.extent(index, flat ? 0 : 1),
                              Dim(1)};
  Formula f(call);
  const Term real = f.node(g.reshape(g.cast(index, DType::Int64), shape)) != padding;
  bags.within = KW_TRY(f.done(bags.within < 0 ? real : f.node(bags.within) & real));
  return Done{};
}

Result<Value> embedding_bag(Call& call) {
  if (call.given("max_norm"))
    return input_error("embedding_bag(): max_norm, which rewrites the table, is not supported");
  const std::string mode = KW_TRY(call.text("mode"));
  if (mode != "sum" && mode != "mean" && mode != "max")
    return input_error("mode has to be one of sum, mean or max");
  Bags bags = KW_TRY(read_bags(call));
  KW_TRY(leave_padding(call, bags));
  graph::Builder& g = call.graph();
  const DType type = g.dtype(bags.rows);
  Formula f(call);
  Term rows = wide(f.node(bags.rows));
  if (call.given("per_sample_weights")) {
    if (mode != "sum")
      return input_error(
          "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
          "for mode='sum'");
    const NodeId weights = KW_TRY(call.tensor("per_sample_weights"));
    rows = rows * wide(f.node(graph::unsqueeze(g, weights, -1)));
  }
  const bool all = bags.within < 0;
  if (!all) rows = where(f.node(bags.within), rows, mode == "max" ? -INFINITY : 0.0);
  Term result = reduce(mode == "max" ? Op::Max : Op::Sum, rows, {1});
  if (all && mode == "mean") result = result / g.extent(bags.rows, 1);
  if (!all && mode != "sum") {
    const Term size = reduce(Op::Sum, cast(f.node(bags.within), f.dtype(rows)), {1});
    result = mode == "mean" ? result / maximum(size, 1.0) : where(size == 0, 0.0, result);
  }
  const NodeId kept = KW_TRY(f.done(result, type));
  return tensor_value(KW_TRY(graph::squeeze(g, kept, {1})));
}

constexpr OpRow kAttentionRows[] = {
    {"F.scaled_dot_product_attention",
     "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, "
     "enable_gqa=False",
     scaled_dot_product_attention},
    {"aten.fused_attention",
     "query, key, value, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, "
     "attn_mask=None, scale=None, enable_gqa=False",
     fused_attention},
    {"aten.fused_masked_attention",
     "query, key, value, attn_mask, compute_log_sumexp=False, dropout_p=0.0, is_causal=False, "
     "return_debug_mask=False, *, scale=None, enable_gqa=False",
     fused_attention},
    {"aten.math_attention",
     "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, dropout_mask=None, *, "
     "scale=None, enable_gqa=False",
     fused_attention},
    {"aten.nn.embedding_bag",
     "input, offsets=None, per_sample_weights=None, *, weight, max_norm=None, mode='mean', "
     "include_last_offset=False, padding_idx=None",
     embedding_bag},
    {"F.embedding_bag",
     "input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, "
     "mode='mean', sparse=False, per_sample_weights=None, include_last_offset=False, "
     "padding_idx=None",
     embedding_bag},
};

}  // namespace

std::span<const OpRow> attention_rows() { return kAttentionRows; }

}  // namespace kw::frontend
