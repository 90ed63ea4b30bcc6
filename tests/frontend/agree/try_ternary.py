# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    return (x if x.dim() == 2 else x[0]) * (1 if x.dtype == torch.float32 else 2) + (0 if x.is_cuda is None else 1)
