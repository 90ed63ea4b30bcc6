import torch
import torch.nn.functional as F


def reference(x, weight, bias):
    y = F.group_norm(x, 8, weight, bias, 1e-5)
    return y
