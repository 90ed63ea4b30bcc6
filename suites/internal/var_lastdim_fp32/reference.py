import torch


def reference(x):
    y = torch.var(x, dim=-1, correction=0)
    return y
