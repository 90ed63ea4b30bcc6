import torch


def reference(x, mask):
    scores = (x.float() * 0.125).masked_fill(mask, -10000.0)
    y = torch.softmax(scores, dim=-1).to(x.dtype)
    return y
