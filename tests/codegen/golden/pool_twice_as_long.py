import torch.nn.functional as F


def reference(x: "fp32[N, C, L]"):
    return F.interpolate(F.max_pool1d(x, 2, stride=1), scale_factor=2)
