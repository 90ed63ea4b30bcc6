import torch


def reference(x):
    y = torch.softmax(x, dim=-1)
    return y
