import torch


def reference(x: "fp16[B, S, D]", w: "fp16[S]"):
    return torch.relu(x.transpose(1, 2) * w)
