import torch.nn.functional as F


def reference(x, target):
    loss = F.mse_loss(x, target)
    return loss
