import torch.nn.functional as F


def reference(x):
    y = F.interpolate(x, scale_factor=2, mode="nearest")
    return y
