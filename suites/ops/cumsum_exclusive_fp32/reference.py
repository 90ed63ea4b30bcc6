import torch


def reference(x):
    y = torch.cumsum(x, dim=-1) - x
    return y
