import torch.nn.functional as F


def reference(x, weight, bias):
    y = F.linear(x, weight, bias)
    return y
