import torch.nn.functional as F


def reference(x, weight, bias):
    y = F.relu(F.linear(x, weight, bias))
    return y
