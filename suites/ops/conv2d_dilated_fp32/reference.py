import torch.nn.functional as F


def reference(x, weight):
    y = F.conv2d(x, weight, padding=2, dilation=2)
    return y
