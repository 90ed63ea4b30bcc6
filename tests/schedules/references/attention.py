import torch


def reference(q: "fp32[B, L, D]", k: "fp32[B, S, D]", v: "fp32[B, S, D]"):
    return torch.softmax(q @ k.transpose(-2, -1) * 0.125, dim=-1) @ v
