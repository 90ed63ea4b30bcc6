import torch


def reference(x):
    groups = x.shape[-1] // 4
    y = x[:, : groups * 4].reshape(x.shape[0], groups, 4).sum(dim=-1)
    return y
