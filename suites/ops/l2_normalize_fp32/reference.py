import torch.nn.functional as F


def reference(x):
    y = F.normalize(x, dim=-1)
    return y
