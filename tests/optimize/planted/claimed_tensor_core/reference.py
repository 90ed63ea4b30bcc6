"""The product of two matrices."""
import torch

M = 512
N = 512
K = 512


def reference(a: "fp32[M, K]", b: "fp32[K, N]"):
    c = a @ b
    return c
