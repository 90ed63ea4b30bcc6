import torch.nn.functional as F


def reference(x: "fp32[16, 128, 112, 112]", w: "fp32[128, 1, 3, 3]"):
    return F.conv2d(x, w, padding=1, groups=128)
