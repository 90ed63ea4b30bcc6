"""A matrix turned over."""
import torch

M = 256
N = 256


def turn(x: "fp32[M, N]"):
    return x.transpose(0, 1).contiguous()
