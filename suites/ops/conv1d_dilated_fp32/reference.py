import torch.nn.functional as F


def reference(x, weight):
    y = F.conv1d(x, weight, stride=2, dilation=4)
    return y
