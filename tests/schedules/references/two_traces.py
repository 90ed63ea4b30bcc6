import torch


def reference(x: "fp32[B, D]"):
    if x.shape[1] % 2 == 0:
        return x[:, : x.shape[1] // 2].sum(-1)
    return x.sum(-1)
