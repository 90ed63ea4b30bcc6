import torch.nn.functional as F


def reference(x, target):
    loss = F.huber_loss(x, target, delta=0.7)
    return loss
