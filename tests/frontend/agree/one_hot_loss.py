# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]", t: "int64[B]"):
    logp = F.log_softmax(x, dim=1)
    onehot = F.one_hot(t, x.shape[1]).float()
    return -(logp * onehot).sum(1).mean()
