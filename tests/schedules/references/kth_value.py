import torch


def reference(x: "fp32[B, D]"):
    return torch.kthvalue(x, 3, dim=-1)
