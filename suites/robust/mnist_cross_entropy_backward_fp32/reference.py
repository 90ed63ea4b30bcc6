import torch.nn.functional as F


def reference(scores, target):
    loss = F.cross_entropy(scores, target)
    return loss
