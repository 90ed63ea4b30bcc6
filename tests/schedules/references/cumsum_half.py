import torch


def reference(x: "fp16[B, D]"):
    return torch.cumsum(x, -1)
