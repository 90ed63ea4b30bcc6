import torch.nn.functional as F


def reference(x, target, weight):
    loss = F.binary_cross_entropy_with_logits(
        x, target, pos_weight=weight, reduction="none"
    )
    return loss
