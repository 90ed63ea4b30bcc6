import torch.nn.functional as F


def reference(x, target):
    loss = F.cross_entropy(x, target, label_smoothing=0.1)
    return loss
