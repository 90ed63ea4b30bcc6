import torch
import torch.nn.functional as F


def reference(x):
    y = F.hardswish(x)
    return y
