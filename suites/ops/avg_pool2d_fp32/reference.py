import torch.nn.functional as F


def reference(x):
    y = F.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False)
    return y
