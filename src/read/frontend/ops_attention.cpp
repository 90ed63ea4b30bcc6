// Attention is composed from matrix products and a softmax (graph/compose_attention.h), not one
// operator, so that differentiation needs no extra rule. Code generation finds the pattern again
// (generate/attention). Dropout is refused.
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_attention.h"

namespace kw::frontend {
namespace {

using graph::NodeId;

Error random_attention(const Call& call) {
  return input_error(
      "{}() with dropout draws random numbers, so no result is the right one; pass dropout 0, or "
      "--mode eval where it follows self.training",
      call.function());
}

Result<Value> scaled_dot_product_attention(Call& call) {
  const NodeId query = KW_TRY(call.tensor("query"));
  const NodeId key = KW_TRY(call.tensor("key"));
  const NodeId value = KW_TRY(call.tensor("value"));
  graph::Attention how;
  how.mask = KW_TRY(maybe_tensor(call, "attn_mask"));
  how.causal = KW_TRY(call.boolean("is_causal"));
  how.grouped = KW_TRY(call.boolean("enable_gqa"));
  if (call.given("scale")) how.scale = KW_TRY(call.symbolic("scale"));
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

constexpr OpRow kAttentionRows[] = {
    {"F.scaled_dot_product_attention",
     "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, "
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
};

}  // namespace

std::span<const OpRow> attention_rows() { return kAttentionRows; }

}  // namespace kw::frontend
