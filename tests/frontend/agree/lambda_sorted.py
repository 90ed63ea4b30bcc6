# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    order = sorted([3, 1, 2], key=lambda v: -v)
    names = sorted(['b', 'a'])
    k = order.index(1) + names.index('b')
    return x * k
