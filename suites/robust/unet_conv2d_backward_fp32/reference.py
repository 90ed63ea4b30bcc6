import torch.nn.functional as F


def reference(x, weight, bias):
    y = F.conv2d(x, weight, bias, padding=1)
    return y
