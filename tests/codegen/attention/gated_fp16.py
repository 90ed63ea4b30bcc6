import torch
import torch.nn.functional as F


def gated(q: "fp16[2, L, 3, 32]", k: "fp16[2, L, 3, 32]", v: "fp16[2, L, 3, 32]", gate: "fp16[2, L, 96]"):
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return y.transpose(1, 2).reshape(gate.shape) * torch.sigmoid(gate)
