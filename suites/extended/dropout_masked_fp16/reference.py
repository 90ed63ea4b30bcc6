import torch


def reference(x, mask):
    y = torch.where(mask, x / (1.0 - 0.25), torch.zeros_like(x))
    return y
