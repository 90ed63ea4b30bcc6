"""Two steps of a recurrence, far cheaper than reading and writing."""
import torch

N = 1 << 26


def reference(x: "fp32[N]"):
    y = x
    for _ in range(2):
        y = y * 0.5 + 1
    return y
