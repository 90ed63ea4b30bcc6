import torch


def reference(x: "fp32[B, D]"):
    n = (x > 0).sum()
    return x[:n]
