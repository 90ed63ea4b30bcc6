import torch.nn.functional as F


def reference(x):
    y = F.adaptive_avg_pool2d(x, 1).flatten(1)
    return y
