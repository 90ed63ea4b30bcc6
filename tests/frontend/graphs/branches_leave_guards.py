# options: --dims B=4 --dims D=6
import torch


def reference(x: "fp32[B, D]"):
    if x.shape[1] % 2 == 0 and x.shape[0] < 100:
        y = x[:, : x.shape[1] // 2]
    else:
        y = x
    return y
