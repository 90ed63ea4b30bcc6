import torch


def reference(x: "fp32[B, D]"):
    for i in range(10**9):
        x = x + i
    return x
