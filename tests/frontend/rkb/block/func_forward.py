import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(x, weight, bias, side=None, step=1):
    """A linear layer on every step-th row with a residual path."""
    kept = x[::step]
    out = F.relu(F.linear(kept, weight, bias))
    if side is not None:
        kept = F.linear(kept, side)
    return F.relu(out + kept)


class Model(nn.Module):
    def __init__(self, features: int = 16, out_features: int = 16, step: int = 1):
        super().__init__()
        self.step = step
        layer = nn.Linear(features, out_features)
        self.weight = nn.Parameter(layer.weight.data.clone())
        self.bias = nn.Parameter(layer.bias.data.clone())
        if features != out_features:
            other = nn.Linear(features, out_features, bias=False)
            self.side = nn.Parameter(other.weight.data.clone())
        else:
            self.side = None

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.bias, self.side, self.step)


def get_inputs(batch_size: int = 8, features: int = 16):
    return [torch.randn(batch_size, features)]
