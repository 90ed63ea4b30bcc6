import torch


def reference(x: "fp32[B, D]"):
    for i in range(150000):
        x = x + 1
    return x
