import torch


def reference(x: "fp32[B, D]"):
    last = x[:, -3:].sum(-1)
    picked = x[:, [0, 2, -1]]
    return last, picked, torch.roll(x, -2, dims=1)
