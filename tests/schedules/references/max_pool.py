import torch.nn.functional as F


def reference(x: "fp32[N, 3, 13, 10]"):
    return F.max_pool2d(x, 3, stride=2, padding=1)
