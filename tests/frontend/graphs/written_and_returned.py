# options: --dims N=4 --dims D=6
import torch


def reference(g: "fp32[N, D]", m: "fp32[N, D]"):
    norm = g.norm()
    g.mul_(1.0 / norm)
    m[:, 0] = g[:, 1]
    return norm, g
