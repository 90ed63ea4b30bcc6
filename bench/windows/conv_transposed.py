import torch.nn.functional as F


def reference(x: "fp32[16, 64, 32, 32]", w: "fp32[64, 32, 4, 4]"):
    return F.conv_transpose2d(x, w, stride=2, padding=1)
