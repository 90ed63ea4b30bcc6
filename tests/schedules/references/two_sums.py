import torch


def reference(x: "fp32[B, D]"):
    return x.sum(0), (x * x).sum(0) + 1
