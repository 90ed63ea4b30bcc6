import torch.nn.functional as F


def reference(x, weight):
    y = F.conv2d(x, weight, stride=2, padding=3)
    return y
