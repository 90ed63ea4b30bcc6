# options: --mode eval
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        x = self.drop(F.gelu(self.fc(x)))
        return F.dropout(x, 0.2, training=self.training) + x


def get_inputs():
    return [torch.randn(32, 64)]
