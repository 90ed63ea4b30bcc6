import torch
import torch.nn.functional as F


def reference(x: "fp32[N, 6, 9, 11]", w: "fp32[10, 6, 3, 3]", b: "fp32[10]"):
    return torch.relu(F.conv2d(x, w, b, padding=1, stride=(1, 2)))
