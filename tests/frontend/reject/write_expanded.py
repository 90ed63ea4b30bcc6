import torch


def reference(x: "fp32[B, D]"):
    y = x[:1].expand(4, -1)
    y += 1
    return y
