import torch


def reference(a, b):
    c = torch.bmm(a, b)
    return c
