"""Batch normalisation in training mode, without running statistics."""
import torch
import torch.nn.functional as F

N = 64
C = 256
H = 56
W = 56


def reference(x: "fp32[N, C, H, W]", weight: "fp32[C]", bias: "fp32[C]"):
    y = F.batch_norm(x, None, None, weight, bias, True, 0.1, 1e-5)
    return y
