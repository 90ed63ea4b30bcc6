# options: --dims V=10 --dims D=6 --dims B=2 --dims L=3
import torch


def reference(table: "fp32[V, D]", ids: "int64[B, L]"):
    return table[ids]
