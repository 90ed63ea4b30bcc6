import torch.nn.functional as F


def reference(x):
    y = F.unfold(x, 3, padding=1)
    return y
