import torch


def reference(x: "fp32[B, D]"):
    return torch.zeros(1 << 20, 1 << 20).sum() + x
