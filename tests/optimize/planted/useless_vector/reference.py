"""A polynomial of the third degree."""
import torch

N = 1 << 25


def reference(x: "fp32[N]", w: "fp32[4]"):
    y = ((w[0] * x + w[1]) * x + w[2]) * x + w[3]
    return y
