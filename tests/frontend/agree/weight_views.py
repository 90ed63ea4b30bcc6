import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.step = nn.Linear(width, width)
        self.turned = self.step.weight.t()

    def forward(self, x):
        return self.step(x) @ self.turned


def get_inputs():
    return [torch.randn(3, 4)]


def get_init_inputs():
    return [4]
