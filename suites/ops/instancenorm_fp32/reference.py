import torch.nn.functional as F


def reference(x):
    y = F.instance_norm(x, eps=1e-5)
    return y
