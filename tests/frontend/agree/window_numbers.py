# options: --dims B=6 --dims S=41
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, S]", p: "fp32[S]", window: int = 16, period: int = 3, beta: float = 0.9, eps: float = 1e-3):
    i = torch.arange(x.shape[1], device=x.device)
    keep = (i[:, None] - i[None, :] < window) & (i[None, :] % period != 1)
    p.lerp_(x[0], 1 - beta)
    return F.normalize(x @ keep.float(), dim=-1, eps=abs(eps)) * (i // period)
