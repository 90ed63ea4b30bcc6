#include "graph/compose_attention.h"

#include <cmath>

#include "graph/compose_move.h"
#include "graph/compose_norm.h"
#include "graph/term.h"

namespace kw::graph {

namespace {

Status check_operands(const Builder& b, NodeId query, NodeId key, NodeId value) {
  for (const NodeId x : {query, key, value}) {
    if (b.rank(x) < 2) {
      return input_error(
          "scaled_dot_product_attention: Expected query, key, and value to all be at least 2 "
          "dimensional, but got {} dimensions",
          b.rank(x));
    }
    if (!tensor::is_float(b.dtype(x)) || b.dtype(x) != b.dtype(query)) {
      return input_error(
          "Expected query, key, and value to have the same dtype, but got query.dtype: {} "
          "key.dtype: {} and value.dtype: {} instead.",
          torch_name(b.dtype(query)), torch_name(b.dtype(key)), torch_name(b.dtype(value)));
    }
  }
  return Done{};
}

// Repeats the heads of keys and values, so that each serves several heads of queries.
Result<NodeId> shared_heads(Builder& b, NodeId x, NodeId query) {
  if (b.rank(x) < 3 || b.rank(query) < 3) {
    return input_error("enable_gqa needs a dim of heads before the last two");
  }
  const Dim have = b.extent(x, b.rank(x) - 3), wanted = b.extent(query, b.rank(query) - 3);
  if (have.value() < 1 || wanted.value() % have.value() != 0) {
    return input_error(
        "Number of heads in key and value must divide the number of heads in query, but got {} and "
        "{}",
        have.value(), wanted.value());
  }
  const Dim times = floor_div(wanted, have);
  b.guard_equal(times * have, wanted);
  return repeat_interleave(b, x, times, -3);
}

Term scaled(Formula& f, const Term& scores, const Attention& how, const Dim& width) {
  if (how.scale) return scores * *how.scale;
  if (width.is_constant()) {
    return scores * (1 / std::sqrt(static_cast<double>(width.value())));
  }
  return scores * apply(Op::Rsqrt, f(f.builder().constant_dim(dtype_of(scores), width)));
}

Term causal(Formula& f, const Term& scores, const Dim& rows, const Dim& columns) {
  Builder& b = f.builder();
  const Term row = f(b.iota({rows, 1}, 0, DType::Int64));
  const Term column = f(b.iota({1, columns}, 1, DType::Int64));
  return where(row >= column, scores, -INFINITY);
}

}  // namespace

Result<NodeId> safe_softmax(Builder& b, NodeId x) {
  Formula f(b);
  const int last = b.rank(x) - 1;
  const Term w = wide(f(x));
  const Term top = reduce(Op::Max, w, {last});
  const Term empty = top == -INFINITY;
  const Term power = apply(Op::Exp, w - where(empty, 0.0, top));
  const Term share = power / reduce(Op::Sum, power, {last});
  return f.done(where(empty, 0.0, share), b.dtype(x));
}

Result<NodeId> attention(Builder& b, NodeId query, NodeId key, NodeId value, const Attention& how) {
  KW_TRY(check_operands(b, query, key, value));
  if (how.mask && how.causal) {
    return input_error(
        "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  }
  if (how.grouped) {
    key = KW_TRY(shared_heads(b, key, query));
    value = KW_TRY(shared_heads(b, value, query));
  }
  const DType type = b.dtype(query), inner = opmath(type);
  const NodeId turned = KW_TRY(transpose(b, b.cast(key, inner), -1, -2));
  const NodeId products = KW_TRY(b.matmul(b.cast(query, inner), turned));
  Formula f(b);
  Term scores = scaled(f, f(products), how, b.extent(query, b.rank(query) - 1));
  if (how.causal) {
    scores = causal(f, scores, b.extent(query, b.rank(query) - 2), b.extent(key, b.rank(key) - 2));
  }
  if (how.mask) {
    scores = b.dtype(*how.mask) == DType::Bool ? where(f(*how.mask), scores, -INFINITY)
                                               : scores + cast(f(*how.mask), inner);
  }
  const NodeId seen = KW_TRY(f.done(scores));
  const NodeId shares = how.mask ? KW_TRY(safe_softmax(b, seen)) : KW_TRY(softmax(b, seen, -1));
  return b.matmul(b.cast(shares, type), value);
}

}  // namespace kw::graph
