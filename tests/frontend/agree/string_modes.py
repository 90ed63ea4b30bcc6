# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    mode = 'mean'
    if mode in ('mean', 'sum') and not mode.startswith('s'):
        return x.mean()
    return x.sum()
