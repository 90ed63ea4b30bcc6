import torch


def reference(x: "fp32[B, D]"):
    while x.max() > 1:
        x = x / 2
    return x
