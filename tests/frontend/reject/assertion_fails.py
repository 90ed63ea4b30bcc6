import torch


def reference(x: "fp32[B, D]"):
    assert x.shape[0] % 1009 == 0, f"rows {x.shape[0]} must be a multiple of 1009"
    return x
