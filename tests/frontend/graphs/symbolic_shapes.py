# options: --dims B=4 --dims D=6
import torch


def reference(x: "fp32[B, D]"):
    b, d = x.shape
    y = x.reshape(b, 2, d // 2)
    return y.transpose(1, 2).reshape(b * (d // 2), 2)
