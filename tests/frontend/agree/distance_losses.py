import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cosine = nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: 1.0 - F.cosine_similarity(a, b), margin=0.3)

    def forward(self, a, p, n):
        swapped = F.triplet_margin_with_distance_loss(a, p, n, distance_function=nn.PairwiseDistance(p=1), swap=True, reduction="none")
        return self.cosine(a, p, n), swapped, F.triplet_margin_with_distance_loss(a, p, n, reduction="sum")


def get_inputs():
    return [torch.randn(4, 5), torch.randn(4, 5), torch.randn(4, 5)]


def get_init_inputs():
    return []
