# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    n = x.shape[1]
    levels = 0
    y = x
    while n > 1:
        y = y[:, : n // 2] + y[:, n // 2 : n]
        n //= 2
        levels += 1
    return y / levels
