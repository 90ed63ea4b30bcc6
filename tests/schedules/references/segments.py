import torch


def reference(x: "fp32[B, D]"):
    groups = x.shape[1] // 4
    return x[:, : groups * 4].reshape(x.shape[0], groups, 4).sum(-1)
