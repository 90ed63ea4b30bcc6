import torch


def reference(x: "fp32[B, D]"):
    sizes = [0] * 10**9
    return x
