import torch


def reference(x, y):
    out = torch.relu(x + y)
    return out
