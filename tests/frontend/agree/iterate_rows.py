# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    total = torch.zeros(8)
    for row in x:
        total = total + row.abs()
    return total
