# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    y = x.view(2, 3, 8)
    i = torch.tensor([[0, 1], [1, 1]])
    j = torch.tensor([2, 0])
    return y[i], y[:, j], y[i, j], y[i, :, j], y[0, :, j], y[..., j], y[:, None, j]
