import torch.nn.functional as F


def reference(x):
    y = F.max_pool2d(x, 3, stride=2, padding=1)
    return y
