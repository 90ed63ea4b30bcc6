import torch


def reference(x: "fp32[B, D]"):
    return x.median(dim=1).values, torch.quantile(x, 0.25, dim=1)
