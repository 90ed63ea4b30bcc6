# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    a = x.clone()
    a.detach()[0] = 4
    a.data[1] = 5
    return a
