import torch.nn.functional as F


def gelu(x: "fp16[N]"):
    return F.gelu(x)
