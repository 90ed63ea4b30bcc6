import torch


def reference(x):
    y = torch.logsumexp(x.float(), dim=-1)
    return y
