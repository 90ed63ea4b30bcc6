import torch


def reference(x: "fp32[B, D]"):
    if x.sum() > 0:
        return x
    return -x
