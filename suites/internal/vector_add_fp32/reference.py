import torch


def reference(x, y):
    out = x + y
    return out
