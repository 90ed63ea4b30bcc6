import torch


def reference(x):
    y = x * 2.5
    return y
