import torch
import torch.nn.functional as F


def reference(x):
    y = F.celu(x, alpha=1.0)
    return y
