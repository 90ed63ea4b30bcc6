# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    i = torch.arange(8)
    h = x.half()
    return x + i, h + 1, h + 1.5, h * x, i + 0.5, i / 2, i // 3, i % 3, -i, i ** 2, (i > 3) + 1, (i > 3) & (i < 6), ~(i > 2)
