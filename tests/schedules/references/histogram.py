import torch
import torch.nn.functional

N = 8192


def reference(x: "int64[N]", weight: "fp32[N]"):
    return torch.zeros(64).scatter_add(0, x % 64, weight)
