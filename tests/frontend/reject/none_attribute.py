import torch


def reference(x: "fp32[B, D]"):
    y = None
    return y.exp()
