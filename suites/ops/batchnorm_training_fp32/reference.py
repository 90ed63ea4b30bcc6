import torch.nn.functional as F


def reference(x, weight, bias):
    y = F.batch_norm(x, None, None, weight, bias, True, 0.1, 1e-5)
    return y
