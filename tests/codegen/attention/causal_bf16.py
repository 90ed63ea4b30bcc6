# options: --dims L=160 --dims S=300
import torch.nn.functional as F


def causal(q: "bf16[2, 3, L, 64]", k: "bf16[2, 3, S, 64]", v: "bf16[2, 3, S, 64]"):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)
