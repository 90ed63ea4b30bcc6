import torch


def reference(x, scale, shift):
    y = torch.relu(x * scale[:, None, None] + shift[:, None, None])
    return y
