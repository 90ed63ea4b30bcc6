import torch


def reference(x):
    top = torch.max(x, dim=-1)
    low = torch.argmin(x, dim=-1)
    return top.values, top.indices, low
