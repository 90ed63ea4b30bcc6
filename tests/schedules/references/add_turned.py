import torch


def reference(x: "fp32[B, D]", y: "fp32[D, B]"):
    return torch.tanh(x).t() + y
