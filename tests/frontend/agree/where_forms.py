# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    return torch.where(x > 0, x, 0.0), torch.where(x > 0, 1, 0), torch.where(x > 0, x, x.half())
