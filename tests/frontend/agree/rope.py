# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    half = x.shape[-1] // 2
    freqs = 1.0 / (10000 ** (torch.arange(half).float() / half))
    angles = torch.arange(x.shape[0]).float()[:, None] * freqs[None]
    cos, sin = angles.cos(), angles.sin()
    a, b = x[:, :half], x[:, half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
