# options: --dims B=6 --dims D=8
import torch
import torch.nn.functional as F


class Shape:
    def __init__(self, h, w):
        self.h, self.w = h, w

    @property
    def half(self):
        return self.h // 2

    def area(self):
        return self.h * self.w

    @classmethod
    def unit(cls):
        return cls(1, 1)


def reference(x: "fp32[B, D]"):
    s = Shape(*x.shape)
    return x.view(s.half, -1) * s.area() * Shape.unit().area()
