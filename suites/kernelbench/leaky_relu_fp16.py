import torch
import torch.nn as nn


class Model(nn.Module):
    """ReLU with a small slope on the negative side."""

    def __init__(self, negative_slope):
        super().__init__()
        self.activation = nn.LeakyReLU(negative_slope)

    def forward(self, x):
        return self.activation(x)


batch_size = 16384
dim = 4096


def get_inputs():
    return [torch.randn(batch_size, dim, dtype=torch.float16)]


def get_init_inputs():
    return [0.01]
