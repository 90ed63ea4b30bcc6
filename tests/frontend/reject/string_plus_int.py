import torch


def reference(x: "fp32[B, D]"):
    n = "a" + 1
    return x * n
