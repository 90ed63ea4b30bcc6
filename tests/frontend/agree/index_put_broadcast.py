# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    a = x.clone()
    a[torch.tensor([1, 3])] = 0.5
    a[:, torch.tensor([0])] = x[:, 1:2]
    return a
