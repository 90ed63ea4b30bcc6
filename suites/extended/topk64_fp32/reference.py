import torch


def reference(x):
    values, indices = torch.topk(x, 64, dim=-1)
    return values, indices
