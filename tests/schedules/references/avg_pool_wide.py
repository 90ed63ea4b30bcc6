import torch.nn.functional as F


def reference(x: "fp16[N, 8, 12, 16]"):
    return F.avg_pool2d(x, 2)
