# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    count = 0

    def step(v):
        nonlocal count
        count += 1
        return v + count

    return step(step(step(x)))
