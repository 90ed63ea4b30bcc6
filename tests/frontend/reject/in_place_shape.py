import torch


def reference(x: "fp32[B, D]"):
    x[0] += x
    return x
