import torch


def reference(x: "fp32[B, D]"):
    for i in range(x.sum()):
        x = x + i
    return x
