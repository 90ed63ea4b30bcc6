import torch


def reference(x: "fp16[A, B, C, D]"):
    return x.permute(3, 1, 0, 2).contiguous() * 2
