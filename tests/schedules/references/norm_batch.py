# options: --dims B=16384 --dims D=64
import torch


def reference(x: "fp32[B, D]"):
    mean = x.mean(0)
    variance = ((x - mean) ** 2).mean(0)
    return (x - mean) * torch.rsqrt(variance + 1e-5), mean, variance
