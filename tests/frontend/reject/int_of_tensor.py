import torch


def reference(x: "fp32[B, D]"):
    k = int(x.max())
    return x[:k]
