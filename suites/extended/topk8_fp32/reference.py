import torch


def reference(x):
    values, indices = torch.topk(x, 8, dim=-1)
    return values, indices
