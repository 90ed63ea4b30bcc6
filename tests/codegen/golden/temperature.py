import torch


def reference(x: "fp32[B, D]"):
    return torch.exp(x / 0.1)
