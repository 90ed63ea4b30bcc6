import torch.nn.functional as F


def reference(x):
    y = F.max_pool2d(x, 2)
    return y
