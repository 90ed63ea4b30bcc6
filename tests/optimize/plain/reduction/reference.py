"""The sum of a whole vector."""
import torch

N = 1 << 26


def reference(x: "fp32[N]"):
    total = x.sum()
    return total
