# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    def f(a, b=2, *c, d=3, **e):
        return a * b + sum(c) + d + e.get('z', 0)

    return f(x) + f(x, 1, 5, 6, d=0, z=10) + f(*[x, 3], **{'d': 1})
