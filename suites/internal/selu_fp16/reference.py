import torch
import torch.nn.functional as F


def reference(x):
    y = F.selu(x)
    return y
