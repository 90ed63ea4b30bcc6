# options: --dims L=160 --dims S=300 --dims D=64
import torch.nn.functional as F


def biased(q: "fp16[2, 2, L, D]", k: "fp16[2, 2, S, D]", v: "fp16[2, 2, S, D]", bias: "fp16[2, 1, L, S]"):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
