import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, hidden, depth):
        super().__init__()
        self.layers = nn.ModuleList()
        for i in range(depth):
            self.layers.append(nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width)))
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 1, bias=False))

    def forward(self, x) -> torch.Tensor:
        identity = x
        for layer in self.layers:
            x = layer(x)
        x += identity
        return self.head(x)


batch_size = 512
width = 1024
hidden = 4096
depth = 2


def get_inputs():
    return [torch.randn(batch_size, width)]


def get_init_inputs():
    return [width, hidden, depth]
