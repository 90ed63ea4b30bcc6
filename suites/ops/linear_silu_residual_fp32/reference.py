import torch.nn.functional as F


def reference(x, weight, residual):
    y = F.silu(F.linear(x, weight)) + residual
    return y
