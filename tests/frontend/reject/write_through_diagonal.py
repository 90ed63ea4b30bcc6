# options: --dims N=4
import torch


def reference(x: "fp32[N, N]"):
    x.diagonal().mul_(2)
    return x.sum()
