import torch.nn.functional as F


def reference(x, weight, bias):
    y = F.max_pool2d(F.relu(F.conv2d(x, weight, bias)), 2)
    return y
