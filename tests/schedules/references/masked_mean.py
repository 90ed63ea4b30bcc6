import torch


def reference(x: "fp32[B, L, D]", mask: "bool[B, L]"):
    kept = mask.unsqueeze(-1)
    total = torch.where(kept, x, torch.zeros_like(x)).sum(1)
    return total / kept.sum(1).clamp(min=1)
