# options: --dims B=2 --dims M=5 --dims D=6 --dims K=3
import torch


def reference(x: "fp32[B, M, D]", i: "int64[K]", j: "int64[K]"):
    return x[i, :, j]
