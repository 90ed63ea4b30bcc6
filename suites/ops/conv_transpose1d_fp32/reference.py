import torch.nn.functional as F


def reference(x, weight):
    y = F.conv_transpose1d(x, weight, stride=2, padding=1)
    return y
