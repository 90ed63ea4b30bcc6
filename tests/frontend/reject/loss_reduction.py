# options: --dims N=2
import torch.nn.functional as F


def reference(x: "fp32[N]", y: "fp32[N]"):
    return F.mse_loss(x, y, reduction="average")
