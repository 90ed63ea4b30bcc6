import torch.nn.functional as F


def reference(x):
    y = F.pixel_shuffle(x, 2)
    return y
