import torch
import torch.nn as nn


class Scaled(nn.Linear):
    def __init__(self, width):
        super().__init__(width, 2, bias=False)
        self.factor = 0.5

    def forward(self, x):
        return super().forward(x) * self.factor


def get_inputs():
    return [torch.randn(3, 8)]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleDict({"a": Scaled(8)})

    def forward(self, x):
        return self.blocks["a"](x)
