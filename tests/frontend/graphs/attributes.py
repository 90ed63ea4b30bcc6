# options: --dims B=4 --dims D=6
import torch


def reference(x: "fp32[B, D]"):
    n = x.numel() // x.size(0)
    y = x.T if x.is_contiguous() else x
    return y.to(torch.float16) * n + torch.finfo(x.dtype).eps
