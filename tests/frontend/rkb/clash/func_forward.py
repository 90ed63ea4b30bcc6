import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(x, weight):
    return F.linear(x, weight)


class Model(nn.Module):
    def __init__(self, features: int = 16, out_features: int = 8):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_features, features))

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight)


def get_inputs(batch_size: int = 4, features: int = 16):
    return [torch.randn(batch_size, features)]


input_names = ["x"]
