import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, norm_shape):
        super(Model, self).__init__()
        self.up = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride, padding=padding,
                                     output_padding=output_padding)
        self.norm = nn.LayerNorm(norm_shape)
        self.pool = nn.AvgPool3d(kernel_size=2)

    def forward(self, x):
        return nn.functional.gelu(self.pool(self.norm(self.up(x))))


batch_size = 16
in_channels = 16
out_channels = 64
depth, height, width = 8, 16, 32
kernel_size = (3, 3, 3)
stride = (2, 2, 2)
padding = (1, 1, 1)
output_padding = (1, 1, 1)
norm_shape = (out_channels,)


def get_inputs():
    return [torch.rand(batch_size, in_channels, depth, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size, stride, padding, output_padding, norm_shape]
