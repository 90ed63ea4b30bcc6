import torch.nn.functional as F


def reference(x: "fp32[16, 256, 28, 28]", w: "fp32[256, 256, 1, 1]"):
    return F.conv2d(x, w)
