import torch.nn.functional as F


def reference(x, weight, bias):
    y = F.layer_norm(x, x.shape[1:], weight, bias, 1e-5)
    return y
