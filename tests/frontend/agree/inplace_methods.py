# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    a = x.clone()
    a.add_(1).mul_(2).sub_(0.5).div_(3)
    a.relu_().sqrt_().neg_().exp_()
    return a
