import torch
import torch.nn.functional as F


def reference(x):
    y = F.gelu(x)
    return y
