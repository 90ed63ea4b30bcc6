# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    a = x.clone()
    b = a.t().contiguous()
    b.zero_()
    c = a.contiguous()
    c[0] = 1
    return a
