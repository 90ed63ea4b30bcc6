# options: --dims N=37
import torch


def reference(p: "fp32[N]", g: "fp32[N]", m: "fp32[N]", v: "fp32[N]", lr: float = 1e-3, beta1: float = 0.9,
              beta2: float = 0.999, eps: float = 1e-8, decay: float = 0.01, step: int = 10):
    v = v.abs_()
    p.mul_(1 - lr * decay)
    m.mul_(beta1).add_(g, alpha=1 - beta1)
    v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
    denominator = (v / (1 - beta2 ** step)).sqrt_().add_(eps)
    p.addcdiv_(m, denominator, value=-lr / (1 - beta1 ** step))
