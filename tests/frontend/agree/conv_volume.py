import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv3d(channels, channels, 3, padding=1, groups=groups) for _ in range(2)])
        self.pool = nn.MaxPool3d(2, ceil_mode=True)
        self.mean = nn.AvgPool3d(3, stride=1, padding=1, count_include_pad=False)
        self.last = nn.AdaptiveAvgPool3d((1, None, 2))
        self.up = nn.ConvTranspose3d(channels, 2 * channels, (1, 2, 3), stride=(1, 2, 1), output_padding=(0, 1, 0))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return self.last(self.up(self.mean(self.pool(x))))


channels = 4
depth, height, width = 5, 6, 7


def get_inputs():
    return [torch.rand(2, channels, depth, height, width)]


def get_init_inputs():
    return [channels, 2]
