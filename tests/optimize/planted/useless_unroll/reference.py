"""Two steps of a recurrence on one column, far cheaper than reading it."""
import torch

N = 1 << 24


def reference(x: "fp32[N, 8]"):
    y = x[:, 0]
    for _ in range(2):
        y = y * 0.5 + 1
    return y
