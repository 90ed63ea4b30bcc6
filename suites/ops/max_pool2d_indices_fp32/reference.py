import torch.nn.functional as F


def reference(x):
    y, places = F.max_pool2d(x, 2, return_indices=True)
    return y, places
