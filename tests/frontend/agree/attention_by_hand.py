# options: --dims B=2 --dims T=5 --dims D=4
import torch
import torch.nn.functional as F


def reference(q: "fp32[B, T, D]", k: "fp32[B, T, D]", v: "fp32[B, T, D]"):
    s = q @ k.transpose(-2, -1) / (q.shape[-1] ** 0.5)
    mask = torch.triu(torch.ones(s.shape[-2], s.shape[-1], dtype=torch.bool), diagonal=1)
    s = s.masked_fill(mask, float('-inf'))
    return torch.softmax(s, dim=-1) @ v
