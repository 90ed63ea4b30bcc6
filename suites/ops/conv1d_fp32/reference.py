import torch.nn.functional as F


def reference(x, weight, bias):
    y = F.conv1d(x, weight, bias, padding=2)
    return y
