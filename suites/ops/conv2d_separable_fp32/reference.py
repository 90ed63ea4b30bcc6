import torch.nn.functional as F


def reference(x, depth, point):
    y = F.conv2d(F.conv2d(x, depth, padding=1, groups=x.shape[1]), point)
    return y
