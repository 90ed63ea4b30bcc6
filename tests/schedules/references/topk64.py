import torch


def reference(x: "fp16[B, D]"):
    return torch.topk(x, 64)
