import torch


def reference(x):
    top = torch.amax(x, dim=-1, keepdim=True)
    y = torch.exp(x - top)
    return y
