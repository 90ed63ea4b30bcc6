import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """ELU, element by element."""

    def __init__(self, alpha):
        super().__init__()
        self.alpha = alpha

    def forward(self, x):
        return F.elu(x, alpha=self.alpha)


batch_size = 16384
dim = 4096


def get_inputs():
    return [torch.randn(batch_size, dim, dtype=torch.float16)]


def get_init_inputs():
    return [1.0]
