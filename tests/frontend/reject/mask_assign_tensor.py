import torch


def reference(x: "fp32[B, D]"):
    x[x > 0] = x.sum(-1)
    return x
