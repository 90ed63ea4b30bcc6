# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    return x.view(3, -1), x.reshape(-1, 4), x.unflatten(1, (2, 4)), x.flatten(0), x.view(2, 3, 2, 4).movedim(1, 3), x.swapaxes(0, 1), x.unsqueeze(-1).squeeze(-1), x.narrow(1, 2, 3), x.select(0, 2), x.diagonal()
