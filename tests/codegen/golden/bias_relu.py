import torch


def bias_relu(x: "fp32[B, S, D]", bias: "fp32[D]"):
    return torch.relu(x + bias)
