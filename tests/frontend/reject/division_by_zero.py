import torch


def reference(x: "fp32[B, D]"):
    return x * (1 // (x.shape[0] - x.shape[0]))
