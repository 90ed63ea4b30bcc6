# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    big = torch.finfo(x.dtype).min
    y = torch.where(x > 0, x, big)
    return y.max(1)[0], torch.softmax(torch.where(x > 0, x, -1e9), dim=1)
