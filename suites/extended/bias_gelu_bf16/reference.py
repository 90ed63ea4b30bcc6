import torch
import torch.nn.functional as F


def reference(x, bias):
    y = F.gelu(x + bias, approximate="tanh")
    return y
