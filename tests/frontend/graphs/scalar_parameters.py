# options: --dims B=4 --dims D=6
import torch


def reference(x: "fp32[B, D]", limit: float = 3.0, causal: bool = True):
    if causal:
        x = torch.tril(x)
    return torch.clamp(x, -limit, limit)
