"""Half of every element."""
import torch

N = 1 << 25


def reference(x: "fp32[N]"):
    y = x * 0.5
    return y
