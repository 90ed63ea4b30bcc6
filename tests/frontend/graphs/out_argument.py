# options: --dims B=4 --dims D=6
import torch


def reference(x: "fp32[B, D]"):
    y = torch.empty_like(x)
    torch.add(x, x, out=y)
    return y
