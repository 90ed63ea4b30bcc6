import torch.nn.functional as F


def reference(q: "bf16[B, L, 64]", k: "bf16[B, L, 64]", v: "bf16[B, L, 64]", gate: "bf16[B, L, 64]"):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True) * gate
