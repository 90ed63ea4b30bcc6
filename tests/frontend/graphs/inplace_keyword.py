# options: --dims B=4 --dims D=6
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    y = x * 1.0
    z = F.relu(y, inplace=True)
    return y + z
