import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Softplus, element by element."""

    def forward(self, x):
        return F.softplus(x)


batch_size = 16384
dim = 4096


def get_inputs():
    return [torch.randn(batch_size, dim, dtype=torch.float16)]


def get_init_inputs():
    return []
