import torch.nn.functional as F


def reference(x, weight):
    y = F.conv2d(x, weight, stride=(1, 2), padding=(1, 2))
    return y
