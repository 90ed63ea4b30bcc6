import torch.nn.functional as F


def causal(q: "bf16[1, 2, L, 64]", k: "bf16[1, 2, S, 64]", v: "bf16[1, 2, S, 64]"):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)
