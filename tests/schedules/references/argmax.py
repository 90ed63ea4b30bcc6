import torch


def reference(x: "fp32[B, D]"):
    return torch.argmax(x, -1)
