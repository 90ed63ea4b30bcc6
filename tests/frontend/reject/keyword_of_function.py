import torch


def reference(x: "fp32[B, D]"):
    def scale(v, factor=1):
        return v * factor

    return scale(x, factr=2)
