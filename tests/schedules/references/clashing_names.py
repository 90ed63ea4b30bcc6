import torch


def reference(total: "fp32[n, k]", left: "fp32[k, m]"):
    return torch.cumsum(total, -1), total @ left
