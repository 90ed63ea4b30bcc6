import torch


def reference(x: "fp32[B, D]"):
    s = x.sum().item()
    return x * s
