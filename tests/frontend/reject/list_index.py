import torch


def reference(x: "fp32[B, D]"):
    sizes = [1, 2]
    return x * sizes[2]
