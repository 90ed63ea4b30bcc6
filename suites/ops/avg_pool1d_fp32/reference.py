import torch.nn.functional as F


def reference(x):
    y = F.avg_pool1d(x, 4, stride=2, padding=1)
    return y
