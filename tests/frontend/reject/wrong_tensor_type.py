import torch


def reference(x: "fp32[B, D]"):
    return torch.softmax([1, 2], dim=0)
