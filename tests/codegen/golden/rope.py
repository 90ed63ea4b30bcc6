import torch


def rope(x: "fp16[B, S, 64]", cos: "fp32[S, 32]", sin: "fp32[S, 32]"):
    a, b = x[..., :32].float(), x[..., 32:].float()
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1).to(x.dtype)
