import torch.nn.functional as F


def reference(x):
    y = F.adaptive_max_pool2d(x, 4)
    return y
