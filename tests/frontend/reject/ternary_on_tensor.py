import torch


def reference(x: "fp32[B, D]"):
    return x if x.mean() > 0 else -x
