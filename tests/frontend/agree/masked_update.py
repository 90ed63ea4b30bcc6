# options: --dims B=6 --dims D=8
import torch


def reference(x: "fp32[B, D]", s: "fp32[]"):
    y = x.clone()
    y[y > 0.5] *= 0.25
    y[x[:, 0] > 0] += s
    z = y.view(-1)
    z[z < -1] = -1
    return y
