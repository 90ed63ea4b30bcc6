import torch
import torch.nn as nn


class Model(nn.Module):
    """Logarithm of softmax along one dim."""

    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return torch.log_softmax(x, dim=self.dim)


batch_size = 16384
dim = 4096


def get_inputs():
    return [torch.randn(batch_size, dim, dtype=torch.float16)]


def get_init_inputs():
    return [-1]
