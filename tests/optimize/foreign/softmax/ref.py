import torch

atol = 1e-5
rtol = 1e-4


def reference(x, y, B, D):
    y.copy_(torch.softmax(x.view(B, D), dim=-1).view(-1))
