import torch
import torch.nn.functional as F


def reference(x, bias):
    y = F.relu(x + bias)
    return y
