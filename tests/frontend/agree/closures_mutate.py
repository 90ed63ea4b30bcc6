# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


def reference(x: "fp32[B, D]"):
    log = []

    def note(v):
        log.append(v * len(log))
        return v

    for row in (x[0], x[1], x[2]):
        note(row)
    return torch.cat(log).view(3, -1)
