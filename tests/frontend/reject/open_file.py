import torch


def reference(x: "fp32[B, D]"):
    with open("weights.bin") as f:
        return x
