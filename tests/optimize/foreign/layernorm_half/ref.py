import torch


def reference(x, w, y, rows, D, eps):
    v = x.view(rows, D).float()
    v = v - v.mean(-1, keepdim=True)
    v = v * torch.rsqrt(v.pow(2).mean(-1, keepdim=True) + eps)
    y[...] = (v * w.float()).to(y.dtype).view(-1)
