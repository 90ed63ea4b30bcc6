import torch.nn.functional as F


def reference(x):
    y = F.max_pool3d(x, 2)
    return y
