import torch.nn.functional as F


def reference(x, target):
    loss = F.l1_loss(x, target, reduction="none").sum(-1)
    return loss
