import torch


def reference(x: "fp32[B, D]"):
    return torch.softmax(x.long(), dim=1)
