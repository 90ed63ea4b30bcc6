import torch


def reference(x: "fp32[B, D]"):
    assert (x > 0).all()
    return x
