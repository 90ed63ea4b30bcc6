import torch.nn.functional as F


def reference(x, target):
    loss = F.kl_div(F.log_softmax(x, -1), F.softmax(target, -1), reduction="batchmean")
    return loss
