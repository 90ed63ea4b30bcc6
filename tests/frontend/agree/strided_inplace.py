# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    a = x.clone()
    a[1::2, ::3] += 10
    a[::2, 1::2] = x[::2, ::2]
    return a
