# options: --dims B=4 --dims D=6
import torch


def reference(x: "fp32[B, D]"):
    k = 2 if x.ndim == 2 else 3
    use = not (k == 3) and bool(k)
    return x * k if use else x
