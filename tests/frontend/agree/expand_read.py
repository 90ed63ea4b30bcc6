# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    a = x[:1].expand(4, -1)
    return a * torch.arange(4.0).unsqueeze(1)
