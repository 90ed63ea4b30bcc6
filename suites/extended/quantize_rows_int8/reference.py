import torch


def reference(x):
    scale = x.abs().amax(dim=-1, keepdim=True).clamp(min=1e-6) / 127.0
    q = torch.round(x / scale).to(torch.int8)
    return q, scale
