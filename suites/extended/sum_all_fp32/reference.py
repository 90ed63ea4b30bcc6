import torch


def reference(x):
    y = torch.sum(x)
    return y
