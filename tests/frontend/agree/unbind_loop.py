# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    a = x.clone()
    for i, row in enumerate(a.unbind(0)):
        row += i
    return a
