import torch


def reference(x):
    return torch.sin(x), torch.cos(x)
