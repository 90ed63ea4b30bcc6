import torch


def reference(x):
    v = x.float()
    rms = torch.sqrt(v.pow(2).mean(dim=-1, keepdim=True) + 1e-5)
    normed = (v / rms).to(x.dtype)
    y = normed * torch.sigmoid(normed)
    return y
