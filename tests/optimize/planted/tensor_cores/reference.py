"""The product of two half-precision matrices, added up in single precision."""
import torch

M = 1024
N = 1024
K = 1024


def reference(a: "fp16[M, K]", b: "fp16[K, N]"):
    c = a.float() @ b.float()
    return c
