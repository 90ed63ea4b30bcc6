# options: --dims B=4 --dims D=6
import torch


def reference(x: "fp32[B, D]"):
    y = x
    y += 1
    z = x * 2
    return z
