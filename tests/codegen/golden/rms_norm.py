import torch


def rms_norm(x: "fp16[B, D]", weight: "fp16[D]", eps: float = 1e-5):
    wide = x.float()
    scale = torch.rsqrt(wide.pow(2).mean(dim=-1, keepdim=True) + eps)
    return (wide * scale).to(x.dtype) * weight
