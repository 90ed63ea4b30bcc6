import torch


def reference(x):
    y = torch.sqrt(torch.sum(x * x, dim=-1))
    return y
