import torch.nn.functional as F


def reference(x, target, weight):
    loss = F.nll_loss(F.log_softmax(x, -1), target, weight)
    return loss
