import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, 8, 3, groups=3)

    def forward(self, x):
        return self.conv(x)


channels = 4


def get_inputs():
    return [torch.randn(2, channels, 6, 6)]


def get_init_inputs():
    return [channels]
