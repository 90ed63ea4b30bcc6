import torch


def reference(x, y):
    out = torch.sigmoid(x) * y
    return out
