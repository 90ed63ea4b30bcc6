import torch.nn.functional as F


def reference(x, weight, bias):
    y = F.mish(F.conv2d(x, weight, bias)) * 2.0
    return y
