import torch


def reference(x):
    values = torch.topk(x, 1, dim=-1).values
    return values
