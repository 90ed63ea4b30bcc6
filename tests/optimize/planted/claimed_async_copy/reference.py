"""Every element and its neighbour in the pair."""
import torch

N = 1 << 24


def reference(x: "fp32[N]"):
    other = torch.arange(N) ^ 1
    there = other < N
    y = x + torch.where(there, x[torch.where(there, other, 0)], 0.0)
    return y
