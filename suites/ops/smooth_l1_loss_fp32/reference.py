import torch.nn.functional as F


def reference(x, target):
    loss = F.smooth_l1_loss(x, target, reduction="none", beta=0.5)
    return loss
