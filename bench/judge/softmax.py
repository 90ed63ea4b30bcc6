import torch


def softmax(x: "fp32[B, D]"):
    return torch.softmax(x, dim=-1)
