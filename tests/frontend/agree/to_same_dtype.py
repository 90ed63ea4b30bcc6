# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    a = x.clone()
    b = a.to(torch.float32)
    b[0] = 1
    c = a.float()
    c[1] = 2
    d = a.double()
    d[2] = 3
    return a
