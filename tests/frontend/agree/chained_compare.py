# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    n = x.shape[0]
    return x * (1 if 2 < n <= 6 < 100 else 3) + (not n == 6)
