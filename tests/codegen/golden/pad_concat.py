import torch
import torch.nn.functional as F


def pad_concat(x: "fp32[B, D]", y: "fp32[B, D]"):
    return torch.cat([F.pad(x, (1, 1)), y * 2], dim=1)
