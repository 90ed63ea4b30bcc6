import torch


def softmax(x: "fp16[B, D]"):
    return torch.softmax(x, dim=-1)
