import torch.nn.functional as F


def reference(q, k, v):
    y = F.scaled_dot_product_attention(q, k, v)
    return y
