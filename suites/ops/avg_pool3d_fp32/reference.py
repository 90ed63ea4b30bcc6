import torch.nn.functional as F


def reference(x):
    y = F.avg_pool3d(x, 2)
    return y
