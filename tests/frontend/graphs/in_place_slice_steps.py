# options: --dims B=4 --dims D=6
import torch


def reference(x: "fp32[B, D]"):
    y = torch.zeros_like(x)
    y[:, ::2] = x[:, 1::2]
    return y
