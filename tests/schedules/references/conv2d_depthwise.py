import torch.nn.functional as F


def reference(x: "fp32[N, 5, 9, 12]", w: "fp32[5, 1, 3, 3]"):
    return F.conv2d(x, w, padding=1, groups=5)
