"""Running sums along the rows of a matrix."""
import torch

B = 8192
D = 8192


def reference(x: "fp32[B, D]"):
    y = torch.cumsum(x, dim=-1)
    return y
