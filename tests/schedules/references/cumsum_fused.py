import torch


def reference(x: "fp16[B, D]", w: "fp16[D]"):
    return torch.relu(torch.cumsum(x * w, -1)) + x
