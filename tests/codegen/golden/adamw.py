import torch


def adamw(p: "fp32[N]", g: "fp32[N]", m: "fp32[N]", v: "fp32[N]", lr: float = 1e-3, beta1: float = 0.9, step: int = 10):
    m.mul_(beta1).add_(g, alpha=1 - beta1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    p.addcdiv_(m, v.abs().sqrt_().add_(1e-8), value=-lr / (1 - beta1 ** step))
