import torch


def reference(x):
    y = x.cumsum(-1)
    return y
