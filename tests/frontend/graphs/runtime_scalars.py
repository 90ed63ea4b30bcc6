# options: --dims N=8
import torch


def reference(x: "fp32[N]", lr: float = 0.1, beta: float = 0.9, step: int = 10, rounds: int = 2, limit: float = 1.0):
    """lr, beta and step are passed at run time; rounds and limit decide what is traced."""
    y = x * (lr / (1 - beta ** step))
    for _ in range(rounds):
        y = y * beta
    if limit > 0:
        y = y.clamp(max=limit)
    return y
