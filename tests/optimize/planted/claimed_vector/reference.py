"""Every element times three."""
import torch

N = 1 << 24


def reference(x: "fp16[N]"):
    y = x * 3
    return y
