import math

import torch


def entropy(x: "fp32[N, V]"):
    p = torch.softmax(x * x.shape[-1] ** -0.5, -1)
    return -(p * torch.log(p + 1e-9)).sum(-1) / math.log(x.shape[-1])
