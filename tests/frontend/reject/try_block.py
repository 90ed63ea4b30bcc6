import torch


def reference(x: "fp32[B, D]"):
    try:
        return x
    except ValueError:
        return -x
