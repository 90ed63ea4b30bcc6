import torch


def reference(x: "fp32[B, D]"):
    return torch.topk(x, 5, largest=False)
