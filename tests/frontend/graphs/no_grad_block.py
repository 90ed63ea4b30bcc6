# options: --dims B=4 --dims D=6
import torch


def reference(x: "fp32[B, D]"):
    with torch.no_grad():
        y = x * 2
    return y
