// Attention, and bags of embeddings.
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

// The fused forms of ATen: the result first, then what the backward pass would want.
Result<Value> fused_attention(Call& call) {
  const Value out = KW_TRY(scaled_dot_product_attention(call));
  std::vector<Value> results(9);
  results[0] = out;
  return make_tuple(std::move(results));
}

// nn.MultiheadAttention: what its weights make of queries, keys and values.
struct Heads {
  NodeId query = -1, key = -1, value = -1;  // [N, heads, length, width]
  Dim batch = 1, heads = 1, width = 1;
  bool batched = true, first = false;  // first: the batch comes first
};

// By one third of the joined weight.
Result<NodeId> projected(Call& call, NodeId x, int third, const Dim& embed) {
  graph::Builder& g = call.graph();
  const NodeId joined = KW_TRY(call.tensor("in_proj_weight"));
  const NodeId weight = KW_TRY(graph::narrow(g, joined, 0, embed * Dim(third), embed));
  std::optional<NodeId> bias = KW_TRY(maybe_tensor(call, "in_proj_bias"));
  if (bias) bias = KW_TRY(graph::narrow(g, *bias, 0, embed * Dim(third), embed));
  return graph::linear(g, x, weight, bias);
}

// [L, N, E], [N, L, E] or [L, E] -> [N, heads, L, width].
Result<NodeId> split_heads(graph::Builder& g, NodeId x, const Heads& h) {
  if (!h.batched) x = KW_TRY(graph::unsqueeze(g, x, 0));
  if (h.batched && !h.first) x = KW_TRY(graph::transpose(g, x, 0, 1));
  const Dim length = g.extent(x, 1);
  const NodeId split = KW_TRY(g.reshape(x, {g.extent(x, 0), length, h.heads, h.width}));
  return graph::transpose(g, split, 1, 2);
}

Result<Heads> read_heads(Call& call) {
  Heads h;
  const NodeId query = KW_TRY(call.tensor("query"));
  const NodeId key = KW_TRY(call.tensor("key"));
  const NodeId value = KW_TRY(call.tensor("value"));
  const Dim embed = KW_TRY(call.dim_value("embed_dim"));
  h.heads = KW_TRY(call.dim_value("num_heads"));
  h.first = KW_TRY(call.boolean("batch_first"));
  graph::Builder& g = call.graph();
  h.batched = g.rank(query) == 3;
  if (!h.batched && g.rank(query) != 2) {
    return input_error(fmt::format(
        "query should be unbatched 2D or batched 3D tensor but received {}-D query tensor",
        g.rank(query)));
  }
  if (h.heads.value() < 1 || embed.value() % h.heads.value() != 0)
    return input_error("embed_dim must be divisible by num_heads");
  h.width = floor_div(embed, h.heads);
  const NodeId q = KW_TRY(projected(call, query, 0, embed));
  const NodeId k = KW_TRY(projected(call, key, 1, embed));
  const NodeId v = KW_TRY(projected(call, value, 2, embed));
  h.query = KW_TRY(split_heads(g, q, h));
  h.key = KW_TRY(split_heads(g, k, h));
  h.value = KW_TRY(split_heads(g, v, h));
  h.batch = g.extent(h.query, 0);
  return h;
}

// Added to the scores [N, heads, L, S]; bool masks say what is left out.
Result<Term> masked(Formula& f, Term scores, const Heads& h) {
  graph::Builder& g = f.graph();
  const auto apply_mask = [&](NodeId mask) {
    scores = g.dtype(mask) == DType::Bool ? where(f.node(mask), -INFINITY, scores)
                                          : scores + f.node(mask);
  };
  const std::optional<NodeId> pairs = KW_TRY(maybe_tensor(f.call(), "attn_mask"));
  if (pairs) {
    NodeId mask = *pairs;
    if (g.rank(mask) == 3) mask = KW_TRY(graph::unflatten(g, mask, 0, {h.batch, h.heads}));
    apply_mask(mask);
  }
  const std::optional<NodeId> keys = KW_TRY(maybe_tensor(f.call(), "key_padding_mask"));
  if (keys) {
    apply_mask(KW_TRY(g.reshape(*keys, {h.batch, Dim(1), Dim(1), g.extent(h.key, 2)})));
  }
  return scores;
}

Result<Value> multihead_attention(Call& call) {
  const double dropout = KW_TRY(call.number("dropout"));
  const bool training = KW_TRY(call.boolean("training"));
  if (dropout != 0 && training) return random_attention(call);
  if (KW_TRY(call.boolean("add_zero_attn")) || KW_TRY(call.boolean("add_bias_kv")))
    return input_error("MultiheadAttention: add_bias_kv and add_zero_attn are not supported");
  if (call.given("kdim") || call.given("vdim"))
    return input_error("MultiheadAttention: kdim and vdim are not supported");
  const Heads h = KW_TRY(read_heads(call));
  graph::Builder& g = call.graph();
  Formula f(call);
  const NodeId turned = KW_TRY(graph::transpose(g, h.key, -1, -2));
  const double scale = 1 / std::sqrt(static_cast<double>(h.width.value()));
  const NodeId query = KW_TRY(f.done(f.node(h.query) * scale));
  const Term scores = KW_TRY(masked(f, f.node(g.matmul(query, turned)), h));
  const NodeId seen = KW_TRY(f.done(scores));
  const NodeId shares = KW_TRY(graph::softmax(g, seen, -1));
  NodeId out = KW_TRY(g.matmul(shares, h.value));
  out = KW_TRY(graph::transpose(g, out, 1, 2));
  const Dim length = g.extent(out, 1);
  out = KW_TRY(g.reshape(out, {h.batch, length, h.heads * h.width}));
  if (!h.batched) out = KW_TRY(g.reshape(out, {length, h.heads * h.width}));
  if (h.batched && !h.first) out = KW_TRY(graph::transpose(g, out, 0, 1));
  const NodeId weight = KW_TRY(call.tensor("out_proj_weight"));
  const std::optional<NodeId> bias = KW_TRY(maybe_tensor(call, "out_proj_bias"));
  out = KW_TRY(graph::linear(g, out, weight, bias));
  const bool wanted = KW_TRY(call.boolean("need_weights"));
  if (!wanted) return make_tuple({tensor_value(out), Value()});
  const bool average = KW_TRY(call.boolean("average_attn_weights"));
  NodeId weights = average ? KW_TRY(graph::mean(g, shares, {1}, false)) : shares;
  if (!h.batched) weights = KW_TRY(graph::squeeze(g, weights, {0}));
  return make_tuple({tensor_value(out), tensor_value(weights)});
}

// Bags: [B, N] says which of the N looked-up rows are in which of the B bags.
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

Result<Value> embedding_bag(Call& call) {
  if (call.given("max_norm"))
    return input_error("embedding_bag(): max_norm, which rewrites the table, is not supported");
  if (call.given("padding_idx"))
    return input_error("embedding_bag(): padding_idx is not supported");
  const std::string mode = KW_TRY(call.text("mode"));
  if (mode != "sum" && mode != "mean" && mode != "max")
    return input_error("mode has to be one of sum, mean or max");
  const Bags bags = KW_TRY(read_bags(call));
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
    {"aten.nn.multihead_attention",
     "query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, "
     "average_attn_weights=True, is_causal=False, *, embed_dim, num_heads, batch_first, dropout, "
     "training, in_proj_weight, in_proj_bias, kdim, vdim, "
     "out_proj_weight, out_proj_bias, add_bias_kv, add_zero_attn",
     multihead_attention},
    {"F.embedding_bag",
     "input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, "
     "mode='mean', sparse=False, per_sample_weights=None, include_last_offset=False, "
     "padding_idx=None",
     embedding_bag},
};

}  // namespace

std::span<const OpRow> attention_rows() { return kAttentionRows; }

}  // namespace kw::frontend
