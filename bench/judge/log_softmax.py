import torch


def log_softmax(x: "fp16[B, D]"):
    return torch.log_softmax(x, dim=-1)
