import torch


def reference(x: "fp32[B, D]"):
    if x.shape[1] > 3:
        raise ValueError("too wide")
    return x
