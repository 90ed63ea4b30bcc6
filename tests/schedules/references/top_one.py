import torch


def reference(x: "fp32[B, D]"):
    return torch.topk(x, 1).values
