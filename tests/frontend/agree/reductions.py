# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    return x.sum(), x.mean(0), x.amax((0, 1)), x.std(1), x.var(0, unbiased=False), x.prod(1), x.norm(dim=1), x.argmax(), x.argmin(1), torch.logsumexp(x, 0), x.max(1).values, x.min(0)[1], x.any(), (x > 0).all(1)
