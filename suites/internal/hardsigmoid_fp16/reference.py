import torch
import torch.nn.functional as F


def reference(x):
    y = F.hardsigmoid(x)
    return y
