import torch
import torch.nn.functional as F


def reference(x: "fp32[4, 6]", y: "fp32[4, 6]"):
    return F.kl_div(F.log_softmax(x, -1), F.softmax(y, -1), reduction="batchmean")
