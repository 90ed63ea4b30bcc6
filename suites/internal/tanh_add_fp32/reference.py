import torch


def reference(x, y):
    out = torch.tanh(x) + y
    return out
