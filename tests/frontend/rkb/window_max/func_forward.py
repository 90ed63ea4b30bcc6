import torch
import torch.nn as nn


def forward_fn(x):
    """The larger one of every two neighbours."""
    rows, columns = x.shape
    return x.view(rows, columns // 2, 2).amax(-1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, fn=forward_fn):
        return fn(x)


def get_inputs(rows: int = 64, columns: int = 28):
    return [torch.randn(rows, columns)]


input_names = ["x"]
