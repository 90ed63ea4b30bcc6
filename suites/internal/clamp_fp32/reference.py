import torch


def reference(x):
    y = torch.clamp(x, min=-1.0, max=1.0)
    return y
