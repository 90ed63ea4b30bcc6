import torch


def reference(x: "bool[B, D]"):
    return torch.any(x, 0)
