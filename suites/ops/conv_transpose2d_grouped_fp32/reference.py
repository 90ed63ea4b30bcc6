import torch.nn.functional as F


def reference(x, weight):
    y = F.conv_transpose2d(x, weight, stride=2, padding=1, groups=2)
    return y
