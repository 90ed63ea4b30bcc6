import torch


def reference(x: "fp32[B, D]"):
    while True:
        pass
    return x
