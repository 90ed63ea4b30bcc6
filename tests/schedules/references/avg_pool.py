import torch.nn.functional as F


def reference(x: "fp16[N, 3, 12, 10]"):
    return F.avg_pool2d(x, 2)
