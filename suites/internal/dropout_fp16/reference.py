import torch


def reference(x):
    y = torch.where(x > 0, 2.0 * x, torch.zeros_like(x))
    return y
