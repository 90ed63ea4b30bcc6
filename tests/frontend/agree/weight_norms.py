import torch
import torch.nn as nn
from torch.nn.utils.parametrizations import weight_norm


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = weight_norm(nn.Conv1d(3, 4, 3), dim=0)
        self.fc = nn.utils.weight_norm(nn.Linear(4, 5), dim=None)

    def forward(self, x):
        return self.fc(self.conv(x).mean(-1))


def get_inputs():
    return [torch.randn(2, 3, 6)]


def get_init_inputs():
    return []
