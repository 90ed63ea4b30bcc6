import torch
import torch.nn.functional as F


def reference(logits, target):
    scores = F.log_softmax(logits, dim=-1)
    loss = -scores.gather(1, target[:, None]).squeeze(1)
    return loss
