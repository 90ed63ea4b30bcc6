import torch.nn.functional as F


def reference(x, target):
    loss = F.binary_cross_entropy(x, target)
    return loss
