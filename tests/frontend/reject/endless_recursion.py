import torch


def reference(x: "fp32[B, D]"):
    def again(v):
        return again(v)

    return again(x)
