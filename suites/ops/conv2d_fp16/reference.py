import torch.nn.functional as F


def reference(x, weight):
    y = F.conv2d(x, weight, padding=1)
    return y
