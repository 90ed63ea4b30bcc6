# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    a = x.clone()
    a[a > 0.5] = 0.5
    a[x.sum(1) > 0] = 3
    return a.masked_fill(x < -1, -1.0)
