import torch.nn.functional as F


def reference(x, target):
    loss = 1 - F.cosine_similarity(x, target, dim=1)
    return loss
