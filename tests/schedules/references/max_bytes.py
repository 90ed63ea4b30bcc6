import torch


def reference(x: "uint8[B, D]"):
    return torch.max(x, -1)
