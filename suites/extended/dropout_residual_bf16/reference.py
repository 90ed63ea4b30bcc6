import torch


def reference(x, residual, mask):
    y = residual + x * mask * 1.25
    return y
