import torch


def reference(x: "fp16[N, C, L]"):
    values, places = torch.max(x, 1)
    return values * 2, places
