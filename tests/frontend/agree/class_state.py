# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


class Accumulator:
    def __init__(self, decay):
        self.decay = decay
        self.total = 0
        self.count = 0

    def __call__(self, v):
        self.total = self.total * self.decay + v
        self.count += 1


def reference(x: "fp32[B, D]"):
    acc = Accumulator(0.5)
    for row in x.unbind(0):
        acc(row)
    return acc.total, acc.count * x[0]
