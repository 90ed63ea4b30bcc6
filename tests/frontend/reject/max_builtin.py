import torch


def reference(x: "fp32[B, D]"):
    return max(x[0], x[1])
