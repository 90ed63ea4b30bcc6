import torch.nn.functional as F


def reference(q, k, v, bias):
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    return y
