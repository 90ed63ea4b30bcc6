# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    a = x.clone()
    l, r = a.chunk(2, dim=1)
    l.zero_()
    r.mul_(2)
    return a
